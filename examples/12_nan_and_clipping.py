# %% [markdown] lang="en"
# # NaN, vanishing, exploding, clipping
#
# **Question.** The loss is `nan`. Which operation made the first one, and does clipping help?

# %% [markdown] lang="zh"
# # NaN、梯度消失、梯度爆炸与裁剪
#
# **问题**：损失变成了 `nan`。第一个 `nan` 是哪个运算产生的？裁剪梯度有用吗？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("12", exercises=4)

# %% [markdown] lang="en"
# ## Vanishing and exploding
#
# A sigmoid has a slope of at most 0.25. A chain of 10 of them, all at their steepest point: by how much is
# the gradient
# multiplied? And by how much in a chain of 10 layers that each multiply by 3? Predict both (any notation:
# `0.25**10`).

# %% [markdown] lang="zh"
# ## 消失与爆炸
#
# sigmoid 的斜率最大是 0.25。连着 10 个 sigmoid，且都处在最陡的点，梯度会被乘以多少？如果是 10 层，每层乘以 3，又是多少？
# 请预测两者（写成 `0.25**10` 这样的式子也可以）。

# %%
guess_sigmoids = ...
guess_triples = ...


# %%
def chain(layer, depth, start=0.0):
    x = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    h = x
    for _ in range(depth):
        h = layer(h)
    h.backward()
    return x.grad.item()


ten_sigmoids = chain(lambda h: torch.sigmoid(h) - 0.5, 10)
ten_triples = chain(lambda h: 3 * h, 10)
print(f"{ten_sigmoids:.3g}  {ten_triples:.6g}")
lesson.compare(guess_sigmoids, ten_sigmoids)
lesson.compare(guess_triples, ten_triples)

# %% [markdown] lang="en"
# A million times smaller, or sixty thousand times larger, after ten layers. In a network it looks like this:
# the norm of each
# layer's gradient, layer by layer, before and after a change of activation. Choose *grad* in the panel.

# %% [markdown] lang="zh"
# 只过十层，就小了一百万倍，或者大了六万倍。在网络里看起来是这样的：逐层画出梯度的范数，比较换激活函数前后的差别。请在
# 面板中选择“梯度”。


# %%
def deep(activation):
    torch.manual_seed(0)
    layers = []
    for _ in range(8):
        layers += [nn.Linear(16, 16), activation()]
    return nn.Sequential(*layers, nn.Linear(16, 1))


torch.manual_seed(1)
x = torch.randn(32, 16)
sigmoids, relus = deep(nn.Sigmoid), deep(nn.ReLU)
for name, model in {"sigmoid": sigmoids, "relu": relus}.items():
    (model(x) ** 2).mean().backward()
    first, last = model[0].weight.grad.norm().item(), model[-1].weight.grad.norm().item()
    print(f"{name:8} the first layer gets {first / last:.1e} of what the last one gets")

flow = gradviz.GradFlow(sigmoids)
flow.record()
flow

# %% [markdown] lang="en"
# A norm is one number for a whole layer. A hook can count instead: in which power of ten does each entry of a gradient lie?
# `check_gradients(model, step)` is the line for the log: a norm for each parameter, and what is odd about them. Predict:
# will it call the sigmoid network's first layer odd (`True` or `False`)?

# %% [markdown] lang="zh"
# 范数把一整层压成一个数。钩子也可以用来计数：梯度的每个元素落在十的几次方？
# `check_gradients(model, step)` 则是写进日志的一行：每个参数的范数，以及其中不对劲的地方。请预测：
# 它会说 sigmoid 网络的第一层不对劲吗（`True` 或 `False`）？

# %%
guess_odd = ...


# %%
def histogram(g):
    powers = g.abs().log10().clamp(-12, 0)
    return torch.histc(powers, bins=12, min=-12, max=0).int().tolist()


tens = {}
for name, model in {"sigmoid": sigmoids, "relu": relus}.items():
    model.zero_grad()
    first = model[0].weight
    handle = first.register_hook(lambda g, name=name: tens.update({name: histogram(g)}))
    (model(x) ** 2).mean().backward()
    handle.remove()
print("10^", list(range(-12, 0)))
for name, counts in tens.items():
    print(f"{name:8}", counts)
checked = gradviz.check_gradients(sigmoids, step=0)
lesson.compare(guess_odd, "0.weight" in checked.odd)
gradviz.TensorView(sigmoids[0].weight.grad)

# %% [markdown] lang="en"
# ## Where NaN comes from
#
# Predict for each expression whether the **gradient** at `x` is `"finite"`, `"inf"` or `"nan"`.

# %% [markdown] lang="zh"
# ## NaN 从哪里来
#
# 请预测下面每个式子在 `x` 处的**梯度**是 `"finite"`（有限）、`"inf"` 还是 `"nan"`。

# %%
guess_sqrt = ...
guess_norm = ...
guess_log = ...
guess_where = ...
guess_softmax = ...


# %%
def kind(function, x):
    x = torch.tensor(x, requires_grad=True)
    function(x).sum().backward()
    if torch.isnan(x.grad).any():
        return "nan"
    return "inf" if torch.isinf(x.grad).any() else "finite"


sqrt_at_0 = kind(torch.sqrt, [0.0])
norm_at_0 = kind(lambda x: x.norm(), [0.0, 0.0])
zero_times_log_0 = kind(lambda x: x * torch.log(x), [0.0])
where_at_0 = kind(lambda x: torch.where(x > 0, torch.sqrt(x), 0.0), [0.0, 4.0])
large_softmax = kind(lambda x: torch.softmax(x, 0)[0], [1000.0, 0.0])

lesson.compare(guess_sqrt, sqrt_at_0)
lesson.compare(guess_norm, norm_at_0)
lesson.compare(guess_log, zero_times_log_0)
lesson.compare(guess_where, where_at_0)
lesson.compare(guess_softmax, large_softmax)

# %% [markdown] lang="en"
# The fourth is the famous trap. `torch.where` chooses 0, so the *value* is fine. But backward runs through
# **both** branches:
# the one not chosen is given a gradient of 0, the slope of the root at 0 is infinite, and 0 · ∞ is NaN. The
# mask has to
# be applied to the *input* of the dangerous function.
#
# Underflow is not a source of NaN, although you may read so: what is too small becomes **zero**, what is too
# large becomes
# infinity; NaN comes from meetings such as ∞ − ∞ or 0 · ∞.
#
# ## Finding the culprit
#
# Anomaly mode stops the backward at the first node that returns NaN, and tells the line that made that node.

# %% [markdown] lang="zh"
# 第四个就是著名的陷阱。`torch.where` 选的是 0，所以**值**没有问题。但反向传播会经过**两个**分支：没被选中的那个收到的梯度是 0，
# 而平方根在 0 处的斜率是无穷大，0 · ∞ 就是 NaN。掩码必须加在危险函数的**输入**上。
#
# 有的文章说下溢会产生 NaN，并非如此：太小的数变成**零**，太大的数变成无穷大；NaN 来自 ∞ − ∞、0 · ∞ 这样的相遇。
#
# ## 找出元凶
#
# 异常检测模式会让反向传播停在第一个返回 NaN 的节点，并指出是哪一行产生了这个节点。

# %% tags=["raises-exception"]
with torch.autograd.detect_anomaly():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    loss = torch.where(x > 0, torch.sqrt(x), 0.0).sum()
    loss.backward()

# %% [markdown] lang="en"
# ## Clipping
#
# `clip_grad_norm_` scales **all** gradients by one factor, so that their common norm is at most the limit;
# the direction stays.
# `clip_grad_value_` limits each entry by itself; the direction turns. Predict the two gradients below, from
# `[3, 4]` with limit 1.

# %% [markdown] lang="zh"
# ## 裁剪
#
# `clip_grad_norm_` 用同一个系数缩放**所有**梯度，使总范数不超过上限，方向不变。`clip_grad_value_` 则逐个元素限制，方向会变。
# 梯度为 `[3, 4]`、上限为 1，请预测两种裁剪的结果。

# %%
guess_by_norm = [..., ...]
guess_by_value = [..., ...]


# %%
def clipped(clip, grad):
    w = nn.Parameter(torch.zeros(len(grad)))
    w.grad = torch.tensor(grad)
    clip([w], 1.0)
    return w.grad


by_norm = clipped(nn.utils.clip_grad_norm_, [3.0, 4.0])
by_value = clipped(nn.utils.clip_grad_value_, [3.0, 4.0])
lesson.compare(guess_by_norm, by_norm)
lesson.compare(guess_by_value, by_value)

# %% [markdown] lang="en"
# "NaN or infinity in the gradient? Clip it!" Measure what clipping by norm does when one entry out of three
# is NaN. How many
# entries are NaN afterwards?

# %% [markdown] lang="zh"
# “梯度里有 NaN 或无穷大？裁剪一下就好！”测一测：三个元素中有一个是 NaN，按范数裁剪之后，有几个元素是 NaN？

# %%
guess_nans = ...

# %%
nans_after_clipping = torch.isnan(clipped(nn.utils.clip_grad_norm_, [1.0, float("nan"), 2.0])).sum()
lesson.compare(guess_nans, nans_after_clipping)

# %% [markdown] lang="en"
# The norm of something with NaN is NaN, and so is everything multiplied by it: clipping **spreads** NaN. Give
# `error_if_nonfinite=True` to be told, or skip the step. Clipping is for gradients that are finite and too large.
#
# ## Exercise 1
#
# Write `safe_sqrt(x)`: the root where `x > 0` and 0 elsewhere, with a gradient that is never NaN (0 where `x <= 0`).

# %% [markdown] lang="zh"
# 含有 NaN 的范数是 NaN，任何数乘以它都会变成 NaN：裁剪会把 NaN **扩散**开来。传入 `error_if_nonfinite=True` 可以得到报错，
# 或者干脆跳过这一步。裁剪只适合有限但过大的梯度。
#
# ## 练习 1
#
# 写出 `safe_sqrt(x)`：`x > 0` 处取平方根，其余为 0；梯度永远不会是 NaN（`x <= 0` 处为 0）。


# %% exercise=1
def safe_sqrt(x):
    return ...


# %%
@lesson.check(1)
def check_sqrt(want):
    x = torch.tensor([-1.0, 0.0, 4.0], requires_grad=True)
    y = safe_sqrt(x)
    want.value(y, [0.0, 0.0, 2.0])
    y.sum().backward()
    want.grad(x, [0.0, 0.0, 0.25])


# %% solution=1
def safe_sqrt(x):
    positive = x > 0
    inside = torch.where(positive, x, 1.0)
    return torch.where(positive, torch.sqrt(inside), 0.0)


# %% wrong=1
def safe_sqrt(x):
    return torch.where(x > 0, torch.sqrt(x), 0.0)


# %% wrong=1
def safe_sqrt(x):
    return torch.sqrt(x.clamp(min=0.0))


# %% wrong=1
def safe_sqrt(x):
    return torch.nan_to_num(torch.sqrt(x))


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `log_likelihood(logits, target)`: the logarithm of the softmax probability of class `target`, for one
# vector of logits.
# It must be right, and have a finite gradient, even for logits like 1000.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `log_likelihood(logits, target)`：对一个 logits 向量，求类别 `target` 的 softmax 概率的对数。即使 logits 大到 1000，
# 结果也要正确，梯度也要有限。


# %% exercise=2
def log_likelihood(logits, target):
    return ...


# %%
@lesson.check(2)
def check_likelihood(want):
    logits = torch.tensor([0.0, 1000.0, -1000.0], requires_grad=True)
    result = log_likelihood(logits, 0)
    want.value(result, -1000.0)
    result.backward()
    want.grad(logits, [1.0, -1.0, 0.0])
    want.value(log_likelihood(torch.zeros(4), 2), -torch.tensor(4.0).log().item())


# %% solution=2
def log_likelihood(logits, target):
    return torch.log_softmax(logits, 0)[target]


# %% wrong=2
def log_likelihood(logits, target):
    return torch.log(torch.softmax(logits, 0))[target]


# %% wrong=2
def log_likelihood(logits, target):
    return logits[target] - torch.log(torch.exp(logits).sum())


# %% wrong=2
def log_likelihood(logits, target):
    return torch.log(torch.softmax(logits, 0) + 1e-12)[target]


# %% [markdown] lang="en"
# ## Exercise 3
#
# Write `total_norm(parameters)`: the norm of all gradients taken together, as clipping measures it.
# Parameters without a gradient do
# not count; nothing may change.

# %% [markdown] lang="zh"
# ## 练习 3
#
# 写出 `total_norm(parameters)`：把所有梯度合在一起的范数，也就是裁剪时所用的度量。没有梯度的参数不计入；不能改动任何东西。


# %% exercise=3
def total_norm(parameters):
    return ...


# %%
@lesson.check(3)
def check_norm(want):
    a, b, c = (nn.Parameter(torch.zeros(n)) for n in (2, 1, 3))
    a.grad, b.grad = torch.tensor([1.0, 2.0]), torch.tensor([2.0])
    want.value(total_norm([a, b, c]), 3.0)
    want.grad(a, [1.0, 2.0])
    want.grad(c, None)


# %% solution=3
def total_norm(parameters):
    squares = [p.grad.norm() ** 2 for p in parameters if p.grad is not None]
    return torch.stack(squares).sum().sqrt()


# %% wrong=3
def total_norm(parameters):
    return sum(p.grad.norm() for p in parameters if p.grad is not None)


# %% wrong=3
def total_norm(parameters):
    return nn.utils.clip_grad_norm_(parameters, 1.0)


# %% [markdown] lang="en"
# ## Exercise 4: repair
#
# `train` diverges on this steep loss. Clipping was added, but at the wrong place. Repair it so that every
# step is at most
# `rate` long.

# %% [markdown] lang="zh"
# ## 练习 4：修复
#
# `train` 在这个陡峭的损失上发散了。裁剪是加了，却放错了地方。请修复它，使每一步的长度不超过 `rate`。


# %% exercise=4
def train(w, rate, steps):
    optimizer = torch.optim.SGD([w], lr=rate)
    path = [w.tolist()]
    for _ in range(steps):
        optimizer.zero_grad()
        (w**4).sum().backward()
        optimizer.step()
        nn.utils.clip_grad_norm_([w], 1.0)
        path.append(w.tolist())
    return path


# %%
@lesson.check(4)
def check_clipped(want):
    w = torch.tensor([3.0, -4.0], requires_grad=True)
    path = train(w, 0.1, 100)
    lengths = [torch.dist(torch.tensor(a), torch.tensor(b)).item() for a, b in zip(path, path[1:])]
    want.that(max(lengths) < 0.1 + 1e-5)
    want.value(lengths[0], 0.1, within=1e-3)
    want.that(w.abs().max().item() < 1.0)


# %% solution=4
def train(w, rate, steps):
    optimizer = torch.optim.SGD([w], lr=rate)
    path = [w.tolist()]
    for _ in range(steps):
        optimizer.zero_grad()
        (w**4).sum().backward()
        nn.utils.clip_grad_norm_([w], 1.0)
        optimizer.step()
        path.append(w.tolist())
    return path


# %% wrong=4
def train(w, rate, steps):
    optimizer = torch.optim.SGD([w], lr=rate)
    path = [w.tolist()]
    for _ in range(steps):
        optimizer.zero_grad()
        (w**4).sum().backward()
        nn.utils.clip_grad_value_([w], 1.0)
        optimizer.step()
        path.append(w.tolist())
    return path


# %% wrong=4
def train(w, rate, steps):
    optimizer = torch.optim.SGD([w], lr=rate / 1000)
    path = [w.tolist()]
    for _ in range(steps):
        optimizer.zero_grad()
        (w**4).sum().backward()
        optimizer.step()
        path.append(w.tolist())
    return path


# %% [markdown] lang="en"
# ## What stays
#
# - A chain multiplies slopes: with depth they vanish or explode.
# - `where` runs backward through both branches. Mask the input of the dangerous function.
# - Anomaly mode names the first node that returned NaN. Clipping goes between `backward()` and `step()`, and
#   does not cure NaN.

# %% [markdown] lang="zh"
# ## 小结
#
# - 链条会把斜率连乘：层数一深，不是消失就是爆炸。
# - `where` 的反向传播会经过两个分支。请给危险函数的输入加掩码。
# - 异常检测模式会指出第一个返回 NaN 的节点。裁剪要放在 `backward()` 与 `step()` 之间，而且治不了 NaN。

# %%
lesson
