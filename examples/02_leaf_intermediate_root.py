# %% [markdown] lang="en"
# # Leaf, intermediate, root
#
# **Question.** After `backward()` some tensors have a `.grad` and others do not. Which ones keep it, and how can you
# tell before you run?

# %% [markdown] lang="zh"
# # 叶子、中间结果、根
#
# **问题**：`backward()` 之后，有的张量有 `.grad`，有的没有。谁会保留梯度？能不能在运行之前就看出来？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import teach

lesson = teach.Lesson("02", exercises=3)

# %% [markdown] lang="en"
# ## Predict
#
# Six tensors are made below. Many texts say: *a leaf is a tensor that you made yourself with
# `requires_grad=True`*. Keep that sentence in mind and predict `is_leaf` of each: `True` or `False`.

# %% [markdown] lang="zh"
# ## 先预测
#
# 下面会创建六个张量。许多教程写道：“叶子就是你亲手创建、并且设置了 `requires_grad=True` 的张量。”
# 请记住这句话，预测每个张量的 `is_leaf` 是 `True` 还是 `False`。

# %%
guess_w = ...
guess_x = ...
guess_h = ...
guess_scaled = ...
guess_copy = ...
guess_again = ...

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.tensor([3.0, 4.0])
h = w * x
scaled = x * 10
copy = w.double()
again = h.detach().requires_grad_()

lesson.compare(guess_w, w.is_leaf)
lesson.compare(guess_x, x.is_leaf)
lesson.compare(guess_h, h.is_leaf)
lesson.compare(guess_scaled, scaled.is_leaf)
lesson.compare(guess_copy, copy.is_leaf)
lesson.compare(guess_again, again.is_leaf)

# %% [markdown] lang="en"
# The sentence is too narrow, twice:
#
# - `x` and `scaled` do not require grad, and **every untracked tensor is a leaf**, even one that was
#   computed: nothing was
#   recorded, so no node made it.
# - `again` was computed, yet it begins a new graph: `detach()` left the history behind.
#
# And it is a trap once: `copy` holds the same numbers as `w`, but `.double()` is an operation like any other. A
# conversion of a tracked tensor is recorded, and its result is not a leaf.
#
# The rule that always holds: **a tensor is a leaf exactly when its `grad_fn` is `None`**.

# %% [markdown] lang="zh"
# 那句话有两处说得太窄：
#
# - `x` 和 `scaled` 不需要梯度，而**所有未被跟踪的张量都是叶子**，哪怕是算出来的：因为什么都没有记录，没有哪个节点产生了它。
# - `again` 虽然是算出来的，却是一张新图的起点：`detach()` 抛下了它的来历。
#
# 另外还有一个陷阱：`copy` 的数值与 `w` 相同，但 `.double()` 和别的运算没有区别。对被跟踪的张量做类型转换会被记录下来，
# 得到的结果不是叶子。
#
# 始终成立的判断方法是：**一个张量是叶子，当且仅当它的 `grad_fn` 为 `None`**。

# %%
for name, tensor in {"w": w, "x": x, "h": h, "copy": copy, "again": again}.items():
    made_by = tensor.grad_fn.name() if tensor.grad_fn else None
    print(
        f"{name:6} is_leaf={tensor.is_leaf!s:6} requires_grad={tensor.requires_grad!s:6} {made_by}"
    )

# %% [markdown] lang="en"
# ## The picture
#
# Blue rectangles are leaves, grey pills are operations, whose results are *intermediate*. The green one is
# the *root*,
# where `backward()` starts. A graph may have several roots: `torch.autograd.backward([a, b])` starts from both.
#
# Which of `w.grad`, `h.grad` and `total.grad` will be there after the backward? Predict `True` for "there".

# %% [markdown] lang="zh"
# ## 看图
#
# 蓝色矩形是叶子，灰色圆角块是运算，运算的结果就是**中间结果**。绿色的是**根**，`backward()` 从这里出发。
# 一张图可以有好几个根：`torch.autograd.backward([a, b])` 会同时从两个根出发。
#
# 反向传播之后，`w.grad`、`h.grad` 和 `total.grad` 里哪些会有值？有值请填 `True`。

# %%
guess_w_grad = ...
guess_h_grad = ...
guess_total_grad = ...

# %%
h = w * x
total = h.sum()
gradviz.show(total)

# %%
import warnings

total.backward()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    lesson.compare(guess_w_grad, w.grad is not None)
    lesson.compare(guess_h_grad, h.grad is not None)
    lesson.compare(guess_total_grad, total.grad is not None)
print(len(caught), "warnings:", str(caught[0].message).split(".")[0])

# %% [markdown] lang="en"
# Only the leaf that requires grad keeps its gradient. The gradient of `h` did exist for a moment, as it had to flow
# through; it was not stored. Asking for it anyway brings a warning. `gradviz.explain` says the same with the line at
# fault. How to keep it on purpose (`retain_grad`) is the subject of lesson 07.

# %% [markdown] lang="zh"
# 只有需要梯度的叶子保留了梯度。`h` 的梯度曾短暂存在，因为梯度必须从它那里流过，只是没有存下来。
# 硬要读取它会得到一条警告。`gradviz.explain` 会给出同样的解释，并指出是哪一行。如何有意保留它（`retain_grad`）是
# 第 07 课的主题。

# %%
gradviz.explain(h)

# %% [markdown] lang="en"
# ## The card of a tensor, and a tape that cannot branch
#
# What is printed tells its state: a leaf says `requires_grad=True`, a result names its node. And the graph is made
# anew in each run (*define by run*). A tape that is recorded once and replayed, as a static graph is, keeps the branch
# that the first input took.
#
# First a prediction: the dtype of a tensor follows from what you write. Is it `"float32"`, `"int64"`, `"bool"` or
# `"complex64"` for `[1.0, 2]`, for `[1, 2]`, and for `[1 + 2j]`? And `m.t()` moves no number: with which two
# strides (numbers to step over for the next row, the next column) does it read a matrix `m` of 2 rows and 3 columns?

# %% [markdown] lang="zh"
# ## 张量的名片，以及不会分岔的磁带
#
# 打印出来的内容就说明了状态：叶子写着 `requires_grad=True`，运算结果写着它的节点。计算图每次运行都重新建立（**边运行边定义**）。
# 如果像静态图那样只录一次磁带、以后反复播放，就会一直停在第一个输入走过的分支上。
#
# 先做一个预测：张量的类型取决于您怎么写。`[1.0, 2]`、`[1, 2]`、`[1 + 2j]` 分别是 `"float32"`、`"int64"`、`"bool"` 还是
# `"complex64"`？另外，`m.t()` 不搬动任何数：对 2 行 3 列的矩阵 `m`，它用哪两个步长来读
# （到下一行、下一列各要跨过几个数）？

# %%
guess_kinds = [..., ..., ...]
guess_strides = [..., ...]

# %%
kinds = [str(torch.tensor(data).dtype).split(".")[-1] for data in ([1.0, 2], [1, 2], [1 + 2j])]
lesson.compare(guess_kinds, kinds)
m = torch.arange(6).reshape(2, 3)
lesson.compare(guess_strides, list(m.t().stride()))
print(m.stride(), m.t().stride(), m.t().is_contiguous())

# %%
card = torch.tensor([1.0, 2.0], requires_grad=True)
print(card, card * 2, card.detach(), card.dtype, card.shape, card.stride(), card.device, sep="\n")
print(torch.arange(2000))


def branch(v):
    return [torch.exp, torch.sum] if v.sum() > 0 else [torch.neg, torch.sum]


def replay(steps, v):
    for step in steps:
        v = step(v)
    return v


tape = branch(card)
for v in (card, card - 5):
    print("tape", replay(tape, v).item(), "| define by run", replay(branch(v), v).item())

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `start(n)`: a vector of `n` numbers, each 0.1, that is a leaf and requires grad. Begin with `torch.ones(n)`.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `start(n)`：返回含 `n` 个 0.1 的向量，它是叶子，并且需要梯度。请从 `torch.ones(n)` 开始。


# %% exercise=1
def start(n):
    return ...


# %%
@lesson.check(1)
def check_start(want):
    v = start(3)
    want.value(v, [0.1, 0.1, 0.1])
    want.leaf(v)
    (v * v).sum().backward()
    want.grad(v, [0.2, 0.2, 0.2])


# %% solution=1
def start(n):
    return (torch.ones(n) * 0.1).requires_grad_()


# %% wrong=1
def start(n):
    return torch.ones(n, requires_grad=True) * 0.1


# %% wrong=1
def start(n):
    return torch.ones(n) * 0.1


# %% wrong=1
def start(n):
    v = torch.ones(n, requires_grad=True)
    return (v * 0.1).detach()


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `leaves(result)`: a list of the leaves that a backward from `result` would fill. Every node has
# `next_functions`, pairs of (node, number) that lead towards the inputs. A branch ends at `None` (nobody wants a
# gradient) or at a node that has the attribute `variable`: the leaf itself.
#
# <details><summary>Hint</summary>
#
# Keep a list of nodes still to visit, and the ones already seen: a node can be reached along two ways.
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `leaves(result)`：返回一个列表，包含从 `result` 反向传播时会得到梯度的所有叶子。每个节点都有
# `next_functions`，它是一组（节点, 序号），通向输入。一条分支的尽头要么是 `None`（没有谁需要梯度），
# 要么是一个带有 `variable` 属性的节点，这个属性就是叶子本身。
#
# <details><summary>提示</summary>
#
# 用一个列表存放还要访问的节点，并记下已经访问过的：同一个节点可能从两条路到达。
#
# </details>


# %% exercise=2
def leaves(result):
    return ...


# %%
@lesson.check(2)
def check_leaves(want):
    a, b, c = (torch.tensor(v, requires_grad=True) for v in (1.0, 2.0, 3.0))
    shared = a * b
    result = shared * shared + b * 2 + c.detach()
    found = leaves(result)
    want.value(sorted(leaf.item() for leaf in found), [1.0, 2.0])
    want.that(any(leaf is a for leaf in found) and any(leaf is b for leaf in found))
    want.value(len(leaves(torch.tensor(1.0) * 2)), 0)


# %% solution=2
def leaves(result):
    found, seen, waiting = [], set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        waiting += [before for before, _ in node.next_functions]
    return found


# %% wrong=2
def leaves(result):
    return [node.variable for node, _ in result.grad_fn.next_functions if hasattr(node, "variable")]


# %% wrong=2
def leaves(result):
    found, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None:
            found += [node.variable] if hasattr(node, "variable") else []
            waiting += [before for before, _ in node.next_functions]
    return found


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# `fit` wants a learnable number in double precision. The optimizer refuses it. Run the check to read why, then repair
# `fit`; the number must stay a `float64`.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# `fit` 想要一个双精度的可学习数，但优化器拒绝了它。先运行检查看看原因，再修复 `fit`；这个数必须仍是 `float64`。


# %% exercise=3
def fit(target):
    number = torch.zeros((), requires_grad=True).double()
    optimizer = torch.optim.SGD([number], lr=0.4)
    for _ in range(20):
        optimizer.zero_grad()
        ((number - target) ** 2).backward()
        optimizer.step()
    return number


# %%
@lesson.check(3)
def check_fit(want):
    number = fit(7.0)
    want.value(number, 7.0)
    want.leaf(number)
    want.that(number.dtype == torch.float64)


# %% solution=3
def fit(target):
    number = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([number], lr=0.4)
    for _ in range(20):
        optimizer.zero_grad()
        ((number - target) ** 2).backward()
        optimizer.step()
    return number


# %% wrong=3
def fit(target):
    number = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([number], lr=0.4)
    for _ in range(20):
        optimizer.zero_grad()
        ((number.double() - target) ** 2).backward()
        optimizer.step()
    return number


# %% wrong=3
def fit(target):
    start = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([start], lr=0.4)
    number = start.double()
    for _ in range(20):
        optimizer.zero_grad()
        ((number - target) ** 2).backward(retain_graph=True)
        optimizer.step()
    return number


# %% [markdown] lang="en"
# ## What stays
#
# - Leaf means: no node made it, `grad_fn is None`. Untracked results are leaves too.
# - `.grad` is kept by leaves that require grad, and by nobody else unless asked.
# - Conversions are operations. Make a parameter in its final dtype, and mark it last.

# %% [markdown] lang="zh"
# ## 小结
#
# - 叶子的含义是：没有节点产生它，即 `grad_fn is None`。未被跟踪的计算结果也是叶子。
# - 只有需要梯度的叶子会保留 `.grad`，其他张量除非特意要求，否则不保留。
# - 类型转换也是运算。创建参数时就用最终的类型，最后再标记需要梯度。

# %%
lesson
