# %% [markdown] lang="en"
# # Mixed precision
#
# **Question.** Half the bits, half the memory. What gets lost, and what does a gradient scaler do about it?

# %% [markdown] lang="zh"
# # 混合精度
#
# **问题**：位数减半，内存减半。丢掉的是什么？梯度缩放器又是怎样补救的？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("16", exercises=3)

# %% [markdown] lang="en"
# ## Three formats
#
# | format | sign, exponent, fraction | largest | digits |
# |---|---|---|---|
# | `float32` | 1, 8, 23 bits | about $3.4 \cdot 10^{38}$ | 7 |
# | `float16` | 1, 5, 10 bits | 65504 | 3 |
# | `bfloat16` | 1, 8, 7 bits | about $3.4 \cdot 10^{38}$ | 2 |
#
# `float16` has the digits, `bfloat16` has the range. Predict what each number becomes; write numbers or
# `float("inf")`.

# %% [markdown] lang="zh"
# ## 三种格式
#
# | 格式 | 符号、指数、尾数 | 最大值 | 有效数字 |
# |---|---|---|---|
# | `float32` | 1、8、23 位 | 约 $3.4 \cdot 10^{38}$ | 7 |
# | `float16` | 1、5、10 位 | 65504 | 3 |
# | `bfloat16` | 1、8、7 位 | 约 $3.4 \cdot 10^{38}$ | 2 |
#
# `float16` 胜在位数，`bfloat16` 胜在范围。请预测每个数会变成什么；填数字，或 `float("inf")`。

# %%
guess_large_half = ...
guess_small_half = ...
guess_257_half = ...
guess_257_bfloat = ...

# %%
large_half = torch.tensor(70000.0).half().item()
small_half = torch.tensor(1e-8).half().item()
half_257 = torch.tensor(257.0).half().item()
bfloat_257 = torch.tensor(257.0).bfloat16().item()
lesson.compare(guess_large_half, large_half)
lesson.compare(guess_small_half, small_half)
lesson.compare(guess_257_half, half_257)
lesson.compare(guess_257_bfloat, bfloat_257)

# %% [markdown] lang="en"
# Too large becomes infinity, too small becomes **zero**, never NaN by itself. Weights and activations rarely
# suffer. Gradients do: they are small.
#
# ## A gradient that vanishes in the format
#
# $y = 0.0001 \cdot w$, then $0.0001 \cdot y$: the gradient of $w$ is $10^{-8}$. In `float16` the smallest
# positive number is about $6 \cdot
# 10^{-8}$. Predict `w.grad`: once plainly, once when the loss was multiplied by 65536 first.

# %% [markdown] lang="zh"
# 太大的变成无穷大，太小的变成**零**，本身不会产生 NaN。权重和激活值很少受影响，梯度却会：它们很小。
#
# ## 被格式吞掉的梯度
#
# $y = 0.0001 \cdot w$，再乘以 0.0001：$w$ 的梯度是 $10^{-8}$。而 `float16` 能表示的最小正数约为 $6 \cdot 10^{-8}$。请
# 预测 `w.grad`：
# 一次是直接求，一次是先把损失乘以 65536。

# %%
guess_plain = ...
guess_scaled_is_zero = ...


# %%
def half_gradient(scale):
    w = torch.tensor(1.0, dtype=torch.float16, requires_grad=True)
    loss = 1e-4 * (1e-4 * w)
    (loss * scale).backward()
    return w.grad.item()


plain, scaled = half_gradient(1.0), half_gradient(65536.0)
print("scaled:", f"{scaled:.3e}", " divided again in float32:", f"{scaled / 65536:.3e}")
lesson.compare(guess_plain, plain)
lesson.compare(guess_scaled_is_zero, scaled == 0)

# %% [markdown] lang="en"
# That is all there is to *loss scaling*: multiply the loss, so that every gradient is shifted into the range;
# divide the gradients, in
# `float32`, before they are used.
#
# ## autocast
#
# `autocast` chooses the format operation by operation: matrix products in half the bits, sums and losses in
# `float32`. The parameters stay
# `float32`. Predict the dtypes, as text like `"float32"`.

# %% [markdown] lang="zh"
# **损失缩放**就是这么回事：先放大损失，让所有梯度都移到可表示的范围内；用之前，在 `float32` 里再除回来。
#
# ## autocast
#
# `autocast` 逐个运算地选择格式：矩阵乘法用一半的位数，求和与损失用 `float32`。参数始终是 `float32`。请预测各
# 个 dtype，填 `"float32"` 这样的文字。

# %%
guess_hidden = ...
guess_loss = ...
guess_weight_grad = ...

# %%
torch.manual_seed(0)
layer = nn.Linear(4, 3)
x, target = torch.randn(8, 4), torch.randint(0, 3, (8,))
with torch.autocast("cpu", dtype=torch.bfloat16):
    hidden = layer(x)
    loss = nn.functional.cross_entropy(hidden, target)
loss.backward()


def name(tensor):
    return str(tensor.dtype).split(".")[-1]


lesson.compare(guess_hidden, name(hidden))
lesson.compare(guess_loss, name(loss))
lesson.compare(guess_weight_grad, name(layer.weight.grad))
gradviz.show(loss)

# %% [markdown] lang="en"
# The conversions are nodes of the graph (`ToCopyBackward0`), and they have a derivative: they convert the
# gradient back. Backward runs
# **outside** the `with`: each node computes in the format of its forward.
#
# ## The scaler
#
# `GradScaler` finds the factor by itself. Each round: `scale(loss).backward()`, `step(optimizer)`,
# `update()`. If a gradient has become infinite
# or NaN, the step is left out and the factor is halved; after `growth_interval` good rounds it is doubled.
# Rounds 3 and 4 below overflow.
# Starting at 1024, doubling after 2 good rounds: what is the factor after 6 rounds?

# %% [markdown] lang="zh"
# 格式转换也是图中的节点（`ToCopyBackward0`），它们有导数：把梯度转换回去。反向传播在 `with` **之外**运行：每个节点都
# 用前向时的格式计算。
#
# ## 缩放器
#
# `GradScaler` 会自己寻找系数。每一轮依次是 `scale(loss).backward()`、`step(optimizer)`、`update()`。如果某个梯度变成
# 了无穷大或 NaN，
# 就跳过这一步，系数减半；连续 `growth_interval` 轮正常，系数加倍。下面第 3、4 轮会溢出。从 1024 开始，2 轮正常就加
# 倍：6 轮之后系数是多少？

# %%
guess_scale = ...

# %%
w = torch.tensor(1.0, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
cockpit = gradviz.Cockpit()

for number in range(1, 7):
    slope = float("inf") if number in (3, 4) else 1.0
    before = w.item()
    optimizer.zero_grad()
    scaler.scale(w * slope).backward()
    scaler.step(optimizer)
    scaler.update()
    cockpit.log(scale=scaler.get_scale())
    print(number, "scale", scaler.get_scale(), "" if w.item() != before else "skipped")

lesson.compare(guess_scale, scaler.get_scale())

# %%
cockpit

# %% [markdown] lang="en"
# ## Up, down, and off
#
# The scale is a number with a rule: halved when a gradient overflows (and that step is left out), doubled after
# `growth_interval` good steps. Starting at 4, with an interval of 2: predict it after two good steps, and then after
# a bad one. A scaler with `enabled=False` changes nothing: predict what it makes of a loss of 3.

# %% [markdown] lang="zh"
# ## 升、降、关
#
# 缩放系数按规则变化：梯度溢出时减半（并跳过这一步），连续 `growth_interval` 步正常则加倍。从 4 开始、间隔为 2：
# 请预测两步正常之后的值，再经过一步溢出之后的值。`enabled=False` 的 scaler 什么也不改变：请预测它把值为 3 的损失变成多少。

# %%
guess_grown = ...
guess_halved = ...
guess_off = ...

# %%
scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
w = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([w], lr=0.1)
scales = []
for slope in (1.0, 1.0, float("inf")):
    optimizer.zero_grad()
    scaler.scale(w * slope).backward()
    scaler.step(optimizer)
    scaler.update()
    scales.append(scaler.get_scale())
lesson.compare(guess_grown, scales[1])
lesson.compare(guess_halved, scales[2])
lesson.compare(guess_off, torch.amp.GradScaler("cpu", enabled=False).scale(torch.tensor(3.0)))
print(scales, round(w.item(), 4))
print(scaler.state_dict())

# %% [markdown] lang="en"
# ## The order is guarded
#
# `unscale_` once per step, after a backward, before `step`; `update` after. The scaler refuses the rest.

# %% [markdown] lang="zh"
# ## 顺序有人把关
#
# 每一步只能 `unscale_` 一次，要在反向传播之后、`step` 之前；`update` 在最后。其他顺序会被拒绝。

# %%
w = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([w], lr=0.1)
orders = {
    "unscale_ twice": ("unscale_", "unscale_"),
    "unscale_ after step": ("step", "unscale_"),
    "step twice": ("step", "step"),
}
for name, calls in orders.items():
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    optimizer.zero_grad()
    scaler.scale(w * 2).backward()
    try:
        for call in calls:
            getattr(scaler, call)(optimizer)
    except RuntimeError as error:
        print(name, "|", error)

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `clipped_step(scaler, optimizer, loss, parameters, limit)`: one round with a scaler in which the
# **true** gradient is clipped to norm
# `limit`. Does the order matter? `scaler.unscale_(optimizer)` divides the gradients now; `step` then does not
# divide again.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `clipped_step(scaler, optimizer, loss, parameters, limit)`：用缩放器走一轮，并把**真实的**梯度裁剪到范
# 数 `limit`。顺序重要吗？
# `scaler.unscale_(optimizer)` 会立即把梯度除回来，之后 `step` 不会再除一次。


# %% exercise=1
def clipped_step(scaler, optimizer, loss, parameters, limit):
    return ...


# %%
@lesson.check(1)
def check_clipped(want):
    w = torch.tensor([1.0, 1.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=1)
    loss = (w * torch.tensor([3.0, 4.0])).sum()
    want.done(clipped_step(scaler, optimizer, loss, [w], 1.0))
    want.value(w, [0.4, 0.2])
    want.value(scaler.get_scale(), 2048.0)
    optimizer.zero_grad()
    clipped_step(scaler, optimizer, (w * torch.tensor([0.3, 0.4])).sum(), [w], 1.0)
    want.value(w, [0.1, -0.2])


# %% solution=1
def clipped_step(scaler, optimizer, loss, parameters, limit):
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(parameters, limit)
    scaler.step(optimizer)
    scaler.update()


# %% wrong=1
def clipped_step(scaler, optimizer, loss, parameters, limit):
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(parameters, limit)
    scaler.step(optimizer)
    scaler.update()


# %% wrong=1
def clipped_step(scaler, optimizer, loss, parameters, limit):
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(parameters, limit)
    optimizer.step()


# %% wrong=1
def clipped_step(scaler, optimizer, loss, parameters, limit):
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, limit)
    scaler.step(optimizer)
    scaler.update()


# %% [markdown] lang="en"
# ## Exercise 2
#
# Scale by hand: `true_gradient(function, w)`, where `w` is a `float16` vector and `function(w)` a `float16`
# number. Return the gradient in
# `float32`. Choose a power of two as the factor: start at $2^{20}$ and halve it until no entry is infinite or NaN.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 手工缩放：写出 `true_gradient(function, w)`，其中 `w` 是 `float16` 向量，`function(w)` 是一个 `float16` 数。请
# 以 `float32` 返回梯度。
# 系数取 2 的幂：从 $2^{20}$ 开始，不断减半，直到没有元素是无穷大或 NaN。


# %% exercise=2
def true_gradient(function, w):
    return ...


# %%
@lesson.check(2)
def check_true(want):
    w = torch.tensor([1.0, 1.0], dtype=torch.float16, requires_grad=True)
    small = true_gradient(lambda w: (1e-4 * (1e-4 * w)).sum(), w)
    want.value(small.float() * 1e8, [1.0, 1.0], within=0.05)
    want.that(small.dtype == torch.float32)
    large = true_gradient(lambda w: (w * 100).sum(), w)
    want.value(large, [100.0, 100.0])
    want.grad(w, None)


# %% solution=2
def true_gradient(function, w):
    scale = 2.0**20
    while True:
        loss = function(w)
        seed = torch.tensor(scale, dtype=torch.float32).to(loss.dtype)
        (g,) = torch.autograd.grad(loss, w, grad_outputs=seed)
        if torch.isfinite(g).all():
            return g.float() / scale
        scale /= 2


# %% wrong=2
def true_gradient(function, w):
    return torch.autograd.grad(function(w), w)[0].float()


# %% wrong=2
def true_gradient(function, w):
    (g,) = torch.autograd.grad(function(w) * 2.0**15, w)
    return g.float() / 2.0**15


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# This loop uses a scaler and yet ends elsewhere than `float32` training would. Two of its lines are wrong and
# one is missing. Repair
# it.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# 这个循环用了缩放器，结果却与 `float32` 训练不同。其中两行不对，还缺了一行。请修复它。


# %% exercise=3
def train(w, scaler, rounds):
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(rounds):
        optimizer.zero_grad()
        loss = ((w - 2) ** 2).sum()
        loss.backward()
        optimizer.step()


# %%
@lesson.check(3)
def check_train(want):
    w = torch.tensor([0.0], requires_grad=True)
    scales = []
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=2)
    w.register_hook(lambda g: scales.append(g.item()))
    train(w, scaler, 4)
    want.value(w, [2 * (1 - 0.8**4)])
    want.value(scaler.get_scale(), 1024.0)
    want.value(scales[0], -4.0 * 256)


# %% solution=3
def train(w, scaler, rounds):
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(rounds):
        optimizer.zero_grad()
        loss = ((w - 2) ** 2).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


# %% wrong=3
def train(w, scaler, rounds):
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(rounds):
        optimizer.zero_grad()
        loss = ((w - 2) ** 2).sum()
        scaler.scale(loss).backward()
        optimizer.step()
        scaler.update()


# %% wrong=3
def train(w, scaler, rounds):
    optimizer = torch.optim.SGD([w], lr=0.1)
    for _ in range(rounds):
        optimizer.zero_grad()
        loss = ((w - 2) ** 2).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)


# %% [markdown] lang="en"
# ## What stays
#
# - `float16` loses small gradients to zero; `bfloat16` keeps the range and loses digits, and needs no scaler.
# - Order: scale, backward, unscale, clip, step, update. A skipped step now and then is normal.
# - Under autocast parameters and their gradients stay `float32`; call `backward` outside.

# %% [markdown] lang="zh"
# ## 小结
#
# - `float16` 会把小梯度变成零；`bfloat16` 保住范围、牺牲位数，不需要缩放器。
# - 顺序：缩放、反向、还原、裁剪、走步、更新系数。偶尔跳过一步是正常的。
# - autocast 之下，参数及其梯度始终是 `float32`；`backward` 要在外面调用。

# %%
lesson
