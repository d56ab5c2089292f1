# %% [markdown] lang="en"
# # Gradients accumulate
#
# **Question.** Why does every training loop call `zero_grad()`, and what does that call leave behind: zeros,
# or nothing?

# %% [markdown] lang="zh"
# # 梯度会累加
#
# **问题**：为什么每个训练循环都要调用 `zero_grad()`？调用之后留下的是零，还是什么都没有？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("05", exercises=3)

# %% [markdown] lang="en"
# ## Predict
#
# `w` is 2 and used twice in one expression. Its gradient is then asked for a second time, on a fresh graph. What will
# `w.grad` be each time?

# %% [markdown] lang="zh"
# ## 先预测
#
# `w` 等于 2，在一个式子里用了两次。随后重新建图，再求一次梯度。两次之后 `w.grad` 分别是多少？

# %%
guess_once = ...
guess_twice = ...

# %%
w = torch.tensor(2.0, requires_grad=True)

loss = 3 * w + w**2
loss.backward()
lesson.compare(guess_once, w.grad.item())

loss = 3 * w + w**2
loss.backward()
lesson.compare(guess_twice, w.grad.item())
gradviz.show(loss)

# %% [markdown] lang="en"
# One rule explains both numbers: whatever arrives at a leaf is **added** to its `.grad`. Within one backward
# two paths
# arrive, 3 and 2·2: together 7. A second backward adds 7 more. Shared parameters, several losses and
# micro-batches all
# work because of this rule; a forgotten `zero_grad()` goes wrong because of it.
#
# ## What forgetting costs
#
# Minimise $(w-5)^2$ from $w=1$ with learning rate 0.1. The step is right at first. Without clearing, each
# step also takes
# all earlier gradients along:

# %% [markdown] lang="zh"
# 两个数都可以用一条规则解释：到达叶子的一切都会**加到**它的 `.grad` 上。一次反向传播中有两条路径到达，分别带
# 来 3 和 2·2，合起来是 7；
# 第二次反向传播再加 7。参数共享、多个损失、小批量累积都得益于这条规则；忘了 `zero_grad()` 会出错，也是因为它。
#
# ## 忘记清零的代价
#
# 从 $w=1$ 出发，以学习率 0.1 最小化 $(w-5)^2$。第一步是对的；如果不清零，之后每一步都会把以前的梯度一并带上：


# %%
def descend(clear, steps=30):
    w, path = torch.tensor(1.0, requires_grad=True), []
    for _ in range(steps):
        ((w - 5) ** 2).backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        if clear:
            w.grad = None
        path.append(round(w.item(), 3))
    return path


kept, cleared = descend(clear=False), descend(clear=True)
print("kept   ", kept[:8])
print("cleared", cleared[:8])

cockpit = gradviz.Cockpit()
for first, second in zip(kept, cleared, strict=True):
    cockpit.log(kept=first, cleared=second)
cockpit

# %% [markdown] lang="en"
# The kept gradients act like momentum without friction: the path overshoots and never settles.
#
# ## What zero_grad leaves behind
#
# Predict what `layer.weight.grad` is after `optimizer.zero_grad()`: write `0` or `None`.

# %% [markdown] lang="zh"
# 留下来的梯度就像没有摩擦的动量：路径冲过头，永远停不下来。
#
# ## zero_grad 留下了什么
#
# 调用 `optimizer.zero_grad()` 之后，`layer.weight.grad` 是什么？请填 `0` 或 `None`。

# %%
guess_cleared = ...

# %%
torch.manual_seed(0)
layer = nn.Linear(1, 1, bias=False)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

layer(torch.ones(1, 1)).sum().backward()
optimizer.zero_grad()
lesson.compare(guess_cleared, layer.weight.grad)

layer(torch.ones(1, 1)).sum().backward()
optimizer.zero_grad(set_to_none=False)
print("set_to_none=False:", layer.weight.grad)

# %% [markdown] lang="en"
# Since PyTorch 2.0 the default is `None`. Three things follow:
#
# - Code that reads `p.grad.norm()` right after `zero_grad()` fails: `None` has no `norm`.
# - `None` and zero are different answers. `None`: no gradient arrived. Zero: one arrived, and it was 0.
# - Optimizers **skip** a parameter whose gradient is `None`. A zero is not skipped: momentum goes on moving it.

# %% [markdown] lang="zh"
# 从 PyTorch 2.0 起，默认会设为 `None`。由此有三个结论：
#
# - `zero_grad()` 之后立刻读取 `p.grad.norm()` 会失败：`None` 没有 `norm`。
# - `None` 和零是两种不同的回答。`None` 表示没有梯度到达；零表示梯度到达了，值恰好是 0。
# - 优化器会**跳过**梯度为 `None` 的参数。梯度为零则不会跳过：动量还会继续推着它走。


# %%
def drift(set_to_none):
    p = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    (p * 2).backward()
    optimizer.step()
    before = p.item()
    optimizer.zero_grad(set_to_none=set_to_none)
    optimizer.step()
    return round(p.item() - before, 4)


print("None: moved by", drift(True), "  zeros: moved by", drift(False))

# %% [markdown] lang="en"
# ## Writing into .grad
#
# `.grad` may be set by hand, but it is checked: the shape, the dtype and the device must be those of the tensor.

# %% [markdown] lang="zh"
# ## 手工写入 .grad
#
# `.grad` 可以手工赋值，但会受到检查：形状、dtype 和设备都必须与张量一致。

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
w.grad = torch.tensor([10.0, 10.0])
(w * 3).sum().backward()
print(w.grad)
for wrong in (torch.ones(3), torch.ones(2, dtype=torch.float64)):
    try:
        w.grad = wrong
    except RuntimeError as error:
        print(error)

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `peek(loss, w)`: it returns the gradient of `loss` with respect to `w` and leaves `w.grad` exactly as it was.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `peek(loss, w)`：返回 `loss` 对 `w` 的梯度，而 `w.grad` 必须与原来完全一样。


# %% exercise=1
def peek(loss, w):
    return ...


# %%
@lesson.check(1)
def check_peek(want):
    w = torch.tensor(3.0, requires_grad=True)
    want.value(peek(w**2, w), 6.0)
    want.grad(w, None)
    (w * 4).backward()
    before = w.grad
    want.value(peek(w**2, w), 6.0)
    want.grad(w, 4.0)
    want.that(w.grad is before)


# %% solution=1
def peek(loss, w):
    return torch.autograd.grad(loss, w)[0]


# %% wrong=1
def peek(loss, w):
    loss.backward()
    return w.grad


# %% wrong=1
def peek(loss, w):
    kept, w.grad = w.grad, None
    loss.backward()
    found, w.grad = w.grad, torch.zeros_like(w) if kept is None else kept
    return found


# %% [markdown] lang="en"
# ## Exercise 2
#
# A batch does not fit into memory. Write `in_parts(w, parts)`: call `backward()` once for each part, so that only one
# graph is alive at a time, and leave in `w.grad` the gradient of the **mean** of `loss_of(w, sample)` over
# all samples. The
# parts may differ in size.
#
# <details><summary>Hint</summary>
#
# Accumulation adds. Divide each sum by the number of all samples, not by that of its part.
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 2
#
# 一整批放不进内存。写出 `in_parts(w, parts)`：每一份各调用一次 `backward()`，使同一时刻只有一张图存活；最后 `w.grad`
# 应是 `loss_of(w, 样本)` 在**全部样本**上的平均值的梯度。各份的大小可以不同。
#
# <details><summary>提示</summary>
#
# 累加做的是加法。每一份的和应除以全部样本数，而不是这一份的样本数。
#
# </details>


# %%
def loss_of(w, sample):
    return (w * sample - 1) ** 2


# %% exercise=2
def in_parts(w, parts):
    return ...


# %%
@lesson.check(2)
def check_parts(want):
    samples = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    w = torch.tensor(2.0, requires_grad=True)
    seen = []
    w.register_hook(lambda g: seen.append(g.item()))
    want.done(in_parts(w, [samples[:2], samples[2:4], samples[4:]]))
    expected = torch.autograd.grad(loss_of(w, samples).mean(), w)[0]
    want.grad(w, expected.item())
    want.value(len(seen) - 1, 3)


# %% solution=2
def in_parts(w, parts):
    total = sum(len(part) for part in parts)
    for part in parts:
        (loss_of(w, part).sum() / total).backward()


# %% wrong=2
def in_parts(w, parts):
    for part in parts:
        loss_of(w, part).mean().backward()


# %% wrong=2
def in_parts(w, parts):
    for part in parts:
        (loss_of(w, part).mean() / len(parts)).backward()


# %% wrong=2
def in_parts(w, parts):
    loss_of(w, torch.cat(parts)).mean().backward()


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# This loop clears at the wrong place: nothing is learnt, and no error says so. Repair it; `model` should fit
# `y = 2x`.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# 这个循环清零的位置不对：什么都没学到，也没有任何报错。请修复它，让 `model` 拟合 `y = 2x`。


# %% exercise=3
def train(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(50):
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
    return loss.item()


# %%
@lesson.check(3)
def check_train(want):
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    x = torch.tensor([[1.0], [2.0], [3.0]])
    last = train(model, x, 2 * x)
    want.value(model.weight, [[2.0]])
    want.that(last < 1e-6)


# %% solution=3
def train(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(50):
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


# %% wrong=3
def train(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(50):
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


# %% wrong=3
def train(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(50):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        optimizer.step()
        loss.backward()
        optimizer.zero_grad()
    return loss.item()


# %% [markdown] lang="en"
# ## What stays
#
# - What arrives at a leaf is added. Clear before `backward()` or after `step()`, never between the two.
# - `zero_grad()` leaves `None`; that is different from zero, also for the optimizer.
# - `torch.autograd.grad` returns gradients and adds nothing.

# %% [markdown] lang="zh"
# ## 小结
#
# - 到达叶子的梯度会被加上去。清零要放在 `backward()` 之前或 `step()` 之后，绝不能放在两者之间。
# - `zero_grad()` 留下的是 `None`；它与零不同，对优化器来说也不同。
# - `torch.autograd.grad` 返回梯度，不往任何地方累加。

# %%
lesson
