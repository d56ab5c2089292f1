# %% [markdown] lang="en"
# # Where requires_grad spreads
#
# **Question.** You mark one tensor with `requires_grad=True`. Which of the tensors computed from it are
# tracked as well, and what stops the spreading?

# %% [markdown] lang="zh"
# # requires_grad 会传到哪里
#
# **问题**：你只给一个张量设置了 `requires_grad=True`。由它算出的张量里，哪些也会被跟踪？又是什么让跟踪停下来？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("03", exercises=3)

# %% [markdown] lang="en"
# ## Predict
#
# `w` is tracked, `x` and `y` are not. Five results are computed below. Write down for each whether it will
# require grad: replace every `...` by `True` or `False`. There is no penalty for a wrong guess, but you learn
# more when you have made one.

# %% [markdown] lang="zh"
# ## 先预测
#
# `w` 被跟踪，`x` 和 `y` 没有。下面会算出五个结果。请先写下每个结果是否需要梯度：把每个 `...` 换成 `True` 或
# `False`。猜错不扣分，但先猜一次，印象会深得多。

# %%
guess_product = ...
guess_plain = ...
guess_mixed = ...
guess_compared = ...
guess_position = ...

# %% [markdown] lang="en"
# ## Measure

# %% [markdown] lang="zh"
# ## 再测量

# %%
w = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
x = torch.tensor([2.0, 2.0, 2.0])
y = torch.tensor([0.5, 0.5, 0.5])

product = w * x
plain = x * y
mixed = plain + product
compared = w > 0
position = w.argmax()

lesson.compare(guess_product, product.requires_grad)
lesson.compare(guess_plain, plain.requires_grad)
lesson.compare(guess_mixed, mixed.requires_grad)
lesson.compare(guess_compared, compared.requires_grad)
lesson.compare(guess_position, position.requires_grad)

# %% [markdown] lang="en"
# One tracked input is enough: `product` and `mixed` are tracked. `plain` has no tracked input, so it is not.
#
# You may have read that *any* tracked input makes the output tracked. Not quite: a comparison gives booleans and
# `argmax` gives a whole number. Such values cannot change smoothly, so they have no derivative and are never tracked.
# Only floating-point and complex tensors can require grad.

# %% [markdown] lang="zh"
# 只要有一个输入被跟踪就够了：`product` 和 `mixed` 都被跟踪；`plain` 的输入都没有被跟踪，所以它也没有。
#
# 有的教程说“只要有一个输入需要梯度，输出就需要梯度”，这并不准确：比较得到布尔值，`argmax` 得到整数，
# 它们不会连续变化，没有导数可言，因此从不被跟踪。只有浮点数和复数张量才能要求梯度。

# %%
print(compared.dtype, position.dtype)
try:
    torch.tensor([1, 2, 3], requires_grad=True)
except RuntimeError as error:
    print(error)

# %% [markdown] lang="en"
# The picture says the same. Tensors with a dashed outline are not tracked: they take part in the computation, but no
# gradient is sent to them. Nothing at all was recorded for `plain`: the graph knows only the value that came out.

# %% [markdown] lang="zh"
# 图上看到的也一样。虚线框里的张量没有被跟踪：它们参与计算，但不会收到梯度。`plain` 是怎么算出来的，图里完全没有记录，
# 只留下了它的值。

# %%
loss = mixed.sum()
gradviz.show(loss)

# %% [markdown] lang="en"
# ## Freezing
#
# Fine-tuning often *freezes* layers: `requires_grad_(False)` on their parameters. A common sentence says that "the
# gradient does not reach frozen layers". Measure it. The first layer learns, the second is frozen. Will the first
# layer receive a gradient?

# %% [markdown] lang="zh"
# ## 冻结
#
# 微调时常常**冻结**一些层：对它们的参数调用 `requires_grad_(False)`。常见的说法是“梯度传不到被冻结的层”。我们来测一测：
# 第一层要学习，第二层被冻结。第一层会收到梯度吗？

# %%
guess_first = ...

# %%
torch.manual_seed(0)
first, second = nn.Linear(3, 4), nn.Linear(4, 1)
second.requires_grad_(False)

loss = second(first(x)).sum()
loss.backward()
gradviz.show(loss)

# %%
lesson.compare(guess_first, first.weight.grad is not None)
print("second.weight.grad =", second.weight.grad)

# %% [markdown] lang="en"
# The gradient flows *through* the frozen layer to the one before it. It is only not stored there. Freezing says "do
# not compute the gradient of these parameters"; it does not cut the path. (Cutting is the subject of lesson 08.)
#
# If instead every layer up to some depth is frozen, nothing before that depth needs a gradient, the graph starts
# later, and training gets cheaper.

# %% [markdown] lang="zh"
# 梯度会**穿过**被冻结的层，到达它前面的层，只是不存放在冻结的参数里。冻结的意思是“不必计算这些参数的梯度”，
# 而不是切断路径（切断是第 08 课的主题）。
#
# 如果从输入开始、直到某一层全部冻结，那么这一层之前就没有谁需要梯度，计算图会从更靠后的地方开始，训练也就更省。

# %% [markdown] lang="en"
# ## The flag is read when backward runs
#
# A frozen parameter may learn later, and the optimizer passes over whoever has no gradient. And a leaf whose flag is
# taken off *between* forward and backward gets nothing, though the graph was built for it.

# %% [markdown] lang="zh"
# ## 标志在反向传播时才读取
#
# 冻结的参数以后可以解冻；优化器会跳过没有梯度的参数。如果在前向与反向**之间**取消叶子的标志，那么即使图是为它建立的，它也什么都得不到。

# %%
late = nn.Parameter(torch.tensor([2.0]))
frozen_now = nn.Parameter(torch.tensor([2.0]), requires_grad=False)
learner = torch.optim.SGD([late, frozen_now], lr=0.1)
for thaw in (False, True):
    frozen_now.requires_grad_(thaw)
    learner.zero_grad()
    (late * frozen_now).sum().backward()
    learner.step()
    print("unfrozen" if thaw else "frozen  ", frozen_now.grad, round(frozen_now.item(), 4))

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
product = a * b
a.requires_grad_(False)
product.backward()
print("flag taken off after forward:", a.grad, b.grad)

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `score(a, b)` so that the result is `a * b + b`, is tracked because of `a`, and sends **no** gradient to `b`,
# although `b` may require grad. Do not change `b` itself.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `score(a, b)`：结果等于 `a * b + b`，因为 `a` 而被跟踪，但即使 `b` 需要梯度，也**不**把梯度传给 `b`。不要改动 `b` 本身。


# %% exercise=1
def score(a, b):
    return ...


# %%
@lesson.check(1)
def check_score(want):
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(5.0, requires_grad=True)
    result = score(a, b)
    want.value(result, 15.0)
    want.flows(a, result)
    want.cut(b, result)
    want.tracked(b)


# %% solution=1
def score(a, b):
    fixed = b.detach()
    return a * fixed + fixed


# %% wrong=1
def score(a, b):
    return a * b + b


# %% wrong=1
def score(a, b):
    return a * b.detach() + b


# %% wrong=1
def score(a, b):
    b.requires_grad_(False)
    return a * b + b


# %% wrong=1
def score(a, b):
    with torch.no_grad():
        return a * b + b


# %% [markdown] lang="en"
# ## Exercise 2
#
# `body` and `head` are two layers. Write `prepare(body, head)` for fine-tuning: only `head` is to learn, and
# the graph
# of `head(body(x))` must contain nothing of `body`.
#
# <details><summary>Hint</summary>
#
# A layer whose parameters and input are all untracked records nothing.
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 2
#
# `body` 和 `head` 是两个层。请为微调写出 `prepare(body, head)`：只有 `head` 要学习，而且 `head(body(x))`
# 的计算图里不能有任何属于 `body` 的东西。
#
# <details><summary>提示</summary>
#
# 如果一个层的参数和输入都没有被跟踪，它就什么也不会记录。
#
# </details>


# %% exercise=2
def prepare(body, head):
    return ...


# %%
@lesson.check(2)
def check_prepare(want):
    body, head = nn.Linear(3, 4), nn.Linear(4, 1)
    want.done(prepare(body, head))
    loss = head(torch.tanh(body(x))).sum()
    want.nodes(loss, AddmmBackward0=1, TanhBackward0=0)
    want.tracked(head.weight)
    want.tracked(head.bias)
    want.untracked(body.weight)
    want.untracked(body.bias)


# %% solution=2
def prepare(body, head):
    body.requires_grad_(False)


# %% wrong=2
def prepare(body, head):
    head.requires_grad_(False)


# %% wrong=2
def prepare(body, head):
    body.weight.requires_grad_(False)


# %% wrong=2
def prepare(body, head):
    body.requires_grad_(False)
    head.bias.requires_grad_(False)


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# This program wants to learn a threshold: the number of entries of `x` above `t` should become 2. It fails.
# Run the check
# to read the error, then repair `soft_count` so that the count can be differentiated. A step cannot; a steep sigmoid,
# `torch.sigmoid(10 * (x - t))`, nearly is one.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# 下面的程序想学出一个阈值 `t`，使 `x` 中大于 `t` 的元素恰好有 2 个。它会失败。先运行检查，读一读错误信息，再修改 `soft_count`，
# 让计数可以求导。阶跃不可导；而很陡的 sigmoid，即 `torch.sigmoid(10 * (x - t))`，几乎就是一个阶跃。


# %% exercise=3
def soft_count(x, t):
    return (x > t).float().sum()


# %%
@lesson.check(3)
def check_count(want):
    x = torch.tensor([0.1, 0.4, 0.6, 0.9])
    t = torch.tensor(0.0, requires_grad=True)
    for _ in range(200):
        loss = (soft_count(x, t) - 2) ** 2
        loss.backward()
        with torch.no_grad():
            t -= 0.01 * t.grad
        t.grad = None
    want.flows(t, soft_count(x, t))
    want.that(0.4 < t.item() < 0.6)


# %% solution=3
def soft_count(x, t):
    return torch.sigmoid(10 * (x - t)).sum()


# %% wrong=3
def soft_count(x, t):
    return (x > t).float().sum().requires_grad_()


# %% wrong=3
def soft_count(x, t):
    return torch.sigmoid(10 * (x - t.item())).sum()


# %% [markdown] lang="en"
# ## What stays
#
# - A result is tracked if one input is, the operation has a derivative, and recording is on.
# - Booleans and whole numbers are never tracked.
# - Freezing a parameter does not cut the path through its layer.

# %% [markdown] lang="zh"
# ## 小结
#
# - 只要有一个输入被跟踪、运算有导数、并且记录是打开的，结果就会被跟踪。
# - 布尔值和整数从不被跟踪。
# - 冻结参数并不会切断穿过该层的路径。

# %%
lesson
