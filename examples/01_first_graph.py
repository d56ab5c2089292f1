# %% [markdown] lang="en"
# # A first graph
#
# **Question.** What does a program leave behind for `backward()` to walk along, and what is gone afterwards?
#
# Every operation on a tensor that requires a gradient leaves a node behind. Together the nodes are
# the *autograd graph*: the recipe that `backward()` follows from the result back to its inputs.
# This notebook builds two small graphs and looks at them.
#
# Load the extension once. It draws the graph and, after each cell, says what the cell left behind. `%gradviz` docks a
# live view to the right: everything that you run below appears there, too.

# %% [markdown] lang="zh"
# # 第一张计算图
#
# **问题**：程序运行之后，留下了什么让 `backward()` 沿着走？走完之后，又少了什么？
#
# 对需要梯度的张量做的每一次运算，都会留下一个节点。所有节点合起来就是**计算图**：
# `backward()` 沿着它从结果一路走回输入。本笔记本画出两张小图，并仔细看一看。
#
# 先加载扩展（一次即可）。它负责画图，并在每个单元格运行后指出该单元格留下了什么。`%gradviz` 把一个实时视图停靠在右侧：
# 下面运行的一切也会出现在那里。

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import teach

lesson = teach.Lesson("01", exercises=3)

# %gradviz

# %% [markdown] lang="en"
# ## Leaf, intermediate, root
#
# Three numbers that we made ourselves and that require a gradient: these are **leaves**.
# `h` and `z` are computed on the way, so they are **intermediate**. `loss` is where `backward()` will
# start: the **root**.

# %% [markdown] lang="zh"
# ## 叶子、中间节点、根
#
# 下面三个数是我们自己创建的，并且需要梯度，它们是**叶子**。`h` 和 `z` 是途中算出来的，是**中间节点**。
# `loss` 是 `backward()` 的起点，即**根**。

# %%
x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)

h = w * x
z = h + b
loss = z**2

print("w   ", w.is_leaf, w.grad_fn)
print("h   ", h.is_leaf, h.grad_fn.name())
print("loss", loss.is_leaf, loss.grad_fn.name(), loss.item())

# %% [markdown] lang="en"
# Draw it. Leaves are blue rectangles, operations grey pills, the root is green. Click a node to see its
# value, its gradient and the line that made it. The small orange squares are the *saved tensors*: what
# an operation keeps so that it can compute its derivative later.

# %% [markdown] lang="zh"
# 把它画出来。叶子是蓝色矩形，运算是灰色圆角块，根是绿色。点击一个节点，可以看到它的值、梯度和产生它的那一行代码。
# 橙色小方块是**保存的张量**：运算把它们留下来，以便稍后计算导数。

# %%
gradviz.show(loss)

# %% [markdown] lang="en"
# ## Backward
#
# By the chain rule, with $z = wx + b = 7$:
#
# $$\frac{\partial L}{\partial w} = 2z \cdot x = 28, \qquad
# \frac{\partial L}{\partial x} = 2z \cdot w = 42, \qquad
# \frac{\partial L}{\partial b} = 2z = 14.$$
#
# Will all three be found in the leaves? And will `h` have a gradient as well? Predict `True` or `False` for
# each: replace
# the `...`, then run on.

# %% [markdown] lang="zh"
# ## 反向传播
#
# 由链式法则，$z = wx + b = 7$，于是
#
# $$\frac{\partial L}{\partial w} = 2z \cdot x = 28, \qquad
# \frac{\partial L}{\partial x} = 2z \cdot w = 42, \qquad
# \frac{\partial L}{\partial b} = 2z = 14.$$
#
# 三个叶子里都能找到梯度吗？`h` 也会有梯度吗？请分别预测 `True` 或 `False`：把 `...` 换掉，再继续运行。

# %%
guess_leaves = ...
guess_h = ...

# %%
loss.backward()
print("w.grad =", w.grad.item(), " x.grad =", x.grad.item(), " b.grad =", b.grad.item())

leaves_have_gradients = None not in (w.grad, x.grad, b.grad)
h_keeps_its_gradient = h.retains_grad
lesson.compare(guess_leaves, leaves_have_gradients)
lesson.compare(guess_h, h_keeps_its_gradient)

# %% [markdown] lang="en"
# Only leaves keep a gradient; `h` passed its own on. Look at the picture again: the gradients are on the
# leaves, and the orange squares are hollow now.
# `backward()` gave the saved tensors back, because they are rarely needed twice.
#
# ## A second backward
#
# So a second `backward()` through the same graph cannot work. This is the error; it is PyTorch's.

# %% [markdown] lang="zh"
# 只有叶子保留梯度，`h` 只是把梯度传了下去。再看上面的图：叶子上有了梯度，橙色方块变成了空心。`backward()` 已经释放了
# 保存的张量，因为它们很少会用到第二次。
#
# ## 第二次反向传播
#
# 所以，对同一张图再调用一次 `backward()` 是行不通的。下面就是这个错误，与 PyTorch 的一致。

# %% tags=["raises-exception"]
loss.backward()

# %% [markdown] lang="en"
# The remedy is nearly always to compute the result again: that builds a new graph.
#
# ## Gradients accumulate
#
# A new graph, but the same leaves. `backward()` **adds** to `.grad`; it does not replace it.
# The gradient of `w` grows by 28 each time, until we clear it.

# %% [markdown] lang="zh"
# 解决办法几乎总是把结果重新算一遍：这样会得到一张新图。
#
# ## 梯度会累加
#
# 图是新的，叶子还是原来的。`backward()` 会把梯度**加到** `.grad` 上，而不是替换它。
# `w` 的梯度每次增加 28，直到我们把它清空。

# %%
for _ in range(2):
    loss = (w * x + b) ** 2
    loss.backward()
    print("w.grad =", w.grad.item())

w.grad = x.grad = b.grad = None

# %% [markdown] lang="en"
# ## Linear regression
#
# The same on real data: body mass index and disease progression of 442 people with diabetes, both
# standardised. This is the graph of the loss before any training. An input that nobody wants a gradient
# for has a dashed outline.

# %% [markdown] lang="zh"
# ## 线性回归
#
# 用真实数据做同样的事：442 位糖尿病患者的体重指数与病情进展，两者都已标准化。
# 下面是训练之前损失的计算图。不需要梯度的输入用虚线框画出。

# %%
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

data = load_diabetes()
bmi = torch.tensor(scale(data.data[:, 2]), dtype=torch.float32)
progression = torch.tensor(scale(data.target), dtype=torch.float32)

# %%
slope = torch.zeros(1, requires_grad=True)
offset = torch.zeros(1, requires_grad=True)

loss = ((slope * bmi + offset - progression) ** 2).mean()
gradviz.show(loss)

# %% [markdown] lang="en"
# Now the same in a loop. The update happens under `no_grad()`, so it is not recorded, and the gradients are
# cleared after each step. `losses` keeps numbers, not tensors: a tensor would keep its graph alive.

# %% [markdown] lang="zh"
# 现在放进循环。参数更新在 `no_grad()` 里进行，因此不会被记录；每一步之后清空梯度。
# `losses` 里存的是数而不是张量：存张量会让它的计算图一直活着。

# %%
losses = []

for step in range(50):
    loss = ((slope * bmi + offset - progression) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        slope -= 0.1 * slope.grad
        offset -= 0.1 * offset.grad
    slope.grad = offset.grad = None
    losses.append(loss.item())

print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")

# %% [markdown] lang="en"
# The slope that gradient descent found is the one that least squares gives.

# %% [markdown] lang="zh"
# 梯度下降找到的斜率，与最小二乘法给出的相同。

# %%
import numpy as np

exact_slope, exact_offset = np.polyfit(bmi.numpy(), progression.numpy(), 1)
print(f"gradient descent {slope.item():.4f}, least squares {exact_slope:.4f}")

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `chain_rule(x, w, b)`: the three gradients of $(wx + b)^2$ by the formulas above, as a list for `w`,
# `x`, `b`, from
# plain numbers and without autograd. The cell below compares them with what `backward()` finds.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `chain_rule(x, w, b)`：按上面的公式求 $(wx + b)^2$ 的三个梯度，依次为 `w`、`x`、`b`，写成列表。输入是普通数字，
# 不用自动微分。
# 下面的单元格会拿它与 `backward()` 的结果比较。


# %% exercise=1
def chain_rule(x, w, b):
    return ...


# %%
@lesson.check(1)
def check_chain_rule(want):
    for numbers in ((2.0, 3.0, 1.0), (-1.0, 0.5, 4.0)):
        x, w, b = (torch.tensor(number, requires_grad=True) for number in numbers)
        ((w * x + b) ** 2).backward()
        want.value(chain_rule(*numbers), [w.grad.item(), x.grad.item(), b.grad.item()])


# %% solution=1
def chain_rule(x, w, b):
    z = w * x + b
    return [2 * z * x, 2 * z * w, 2 * z]


# %% wrong=1
def chain_rule(x, w, b):
    z = w * x + b
    return [2 * z * w, 2 * z * x, 2 * z]


# %% wrong=1
def chain_rule(x, w, b):
    return [28.0, 42.0, 14.0]


# %% [markdown] lang="en"
# ## Exercise 2
#
# Build a graph to order: write `build(a, b)` so that the value is $ab + ab$, the graph has **one**
# multiplication and **one**
# addition, and both `a` and `b` get gradients.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 按要求搭一张图：写出 `build(a, b)`，使值等于 $ab + ab$，图里只有**一个**乘法和**一个**加法，并且 `a` 和 `b` 都能得到梯度。


# %% exercise=2
def build(a, b):
    return ...


# %%
@lesson.check(2)
def check_build(want):
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(5.0, requires_grad=True)
    result = build(a, b)
    want.value(result, 20.0)
    want.nodes(result, MulBackward0=1, AddBackward0=1)
    result.backward()
    want.grad(a, 10.0)
    want.grad(b, 4.0)


# %% solution=2
def build(a, b):
    product = a * b
    return product + product


# %% wrong=2
def build(a, b):
    return a * b + a * b


# %% wrong=2
def build(a, b):
    return 2 * (a * b)


# %% wrong=2
def build(a, b):
    product = a * b
    return product + product.detach()


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# This descent builds its graph once and walks it three times. Repair `descend`.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# 下面的梯度下降只建了一次图，却要走三遍。请修复 `descend`。


# %% exercise=3
def descend(w, rate):
    loss = (w - 4) ** 2
    for _ in range(3):
        loss.backward()
        with torch.no_grad():
            w -= rate * w.grad
        w.grad = None
    return w


# %%
@lesson.check(3)
def check_descend(want):
    w = descend(torch.tensor(0.0, requires_grad=True), 0.25)
    want.value(w, 3.5)
    want.leaf(w)
    want.grad(w, None)


# %% solution=3
def descend(w, rate):
    for _ in range(3):
        loss = (w - 4) ** 2
        loss.backward()
        with torch.no_grad():
            w -= rate * w.grad
        w.grad = None
    return w


# %% wrong=3
def descend(w, rate):
    for _ in range(3):
        loss = (w - 4) ** 2
        loss.backward()
        with torch.no_grad():
            w -= rate * w.grad
    return w


# %% wrong=3
def descend(w, rate):
    loss = (w - 4) ** 2
    loss.backward()
    for _ in range(3):
        with torch.no_grad():
            w -= rate * w.grad
    w.grad = None
    return w


# %%
lesson
