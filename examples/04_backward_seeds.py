# %% [markdown] lang="en"
# # Backward, seeds and the vector–Jacobian product
#
# **Question.** What exactly does `backward()` compute when the result is not a single number?

# %% [markdown] lang="zh"
# # 反向传播、种子与向量–雅可比积
#
# **问题**：当结果不止一个数时，`backward()` 到底算的是什么？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import teach

lesson = teach.Lesson("04", exercises=3)

# %% [markdown] lang="en"
# ## One number
#
# For a single number the answer is simple: its derivative with respect to every leaf. Step through it. The player
# stops before each node; press *step* and read what comes in, the local derivative, and what goes out. The
# first value
# that enters is the **seed**: 1, because the derivative of the result with respect to itself is 1.

# %% [markdown] lang="zh"
# ## 只有一个数
#
# 如果结果是一个数，答案很简单：它对每个叶子的导数。来单步走一遍。播放器会停在每个节点之前；点“单步”，
# 看看传进来的是什么、局部导数是什么、传出去的又是什么。最先进入的那个值叫**种子**，它等于 1，因为结果对自身的导数是 1。

# %%
a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
loss = (a * b + a) ** 2

gradviz.BackwardPlayer(loss)

# %% [markdown] lang="en"
# ## Several numbers
#
# `y` has three entries. Its full derivative is a table, the *Jacobian*: one row for each entry of `y`, one column for
# each entry of `x`. Autograd never builds this table. It takes a seed `v` with one weight for each entry of `y`, and
# returns the weighted sum of the rows: the **vector–Jacobian product** $v^\top J$.
#
# Predict `x.grad` for the seed below, as a list of three numbers.

# %% [markdown] lang="zh"
# ## 好几个数
#
# `y` 有三个元素。它完整的导数是一张表，即**雅可比矩阵**：`y` 的每个元素占一行，`x` 的每个元素占一列。
# 自动微分从来不会构造整张表。它接受一个种子 `v`，为 `y` 的每个元素给出一个权重，返回各行的加权和，
# 也就是**向量–雅可比积** $v^\top J$。
#
# 用下面的种子，`x.grad` 会是多少？请写成含三个数的列表。

# %%
guess = [..., ..., ...]

# %%
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x**2
y.backward(torch.tensor([1.0, 0.0, 10.0]))

lesson.compare(guess, x.grad)

# %% [markdown] lang="en"
# Here the Jacobian is diagonal, with $2x = 2, 4, 6$ on it. The seed takes the first row once, the second not at all,
# the third ten times. The whole table, built row by row:

# %% [markdown] lang="zh"
# 这里的雅可比矩阵是对角矩阵，对角线上是 $2x = 2, 4, 6$。种子把第一行取一次，第二行不取，第三行取十次。
# 逐行算出整张表是这样的：

# %%
print(torch.autograd.functional.jacobian(lambda x: x**2, x.detach()))

# %% [markdown] lang="en"
# ## When may the seed be left out?
#
# You will read: "only scalars may call `backward()` without an argument". Predict for each shape whether a bare
# `backward()` works (`True`) or raises (`False`).

# %% [markdown] lang="zh"
# ## 什么时候可以不给种子？
#
# 常见的说法是：“只有标量才能不带参数地调用 `backward()`”。请预测对下面每种形状，直接调用 `backward()` 是能成功
# （`True`）还是会报错（`False`）。

# %%
guess_scalar = ...
guess_one = ...
guess_one_by_one = ...
guess_two = ...


# %%
def bare(*shape):
    result = torch.ones(*shape, requires_grad=True) * 2
    try:
        result.backward()
    except RuntimeError as error:
        print(error)
        return False
    return True


lesson.compare(guess_scalar, bare(()))
lesson.compare(guess_one, bare(1))
lesson.compare(guess_one_by_one, bare(1, 1))
lesson.compare(guess_two, bare(2))

# %% [markdown] lang="en"
# What counts is the number of entries, not the number of dimensions: one entry is enough. For more, say what
# you want:
# `y.sum().backward()` is the same as a seed of ones.
#
# ## Backward does not run your code again
#
# The walk goes over the recorded nodes. Your Python function is not called a second time. Predict how often `layer`
# will have run after one forward and two backwards.

# %% [markdown] lang="zh"
# 起作用的是元素个数，而不是维数：只要恰好一个元素就行。元素更多时，要说明你想要什么：`y.sum().backward()` 等价于全 1 的种子。
#
# ## 反向传播不会重新运行你的代码
#
# 反向传播沿着记录下来的节点走，不会再次调用你的 Python 函数。做一次前向、两次反向之后，`layer` 运行了几次？

# %%
guess_calls = ...

# %%
calls = 0


def layer(x):
    global calls
    calls += 1
    return torch.sin(x) * x


result = layer(x).sum()
result.backward(retain_graph=True)
result.backward()
lesson.compare(guess_calls, calls)

# %% [markdown] lang="en"
# ## All rows at once, and only for some
#
# A Jacobian is one seed a row. `is_grads_batched=True` takes all seeds as one stack. Predict the shape of the Jacobian
# of $f(x) = (x_0 x_1,\; x_0,\; x_1^2)$, as a list, and how often `f` has run when it is filled. Then `y = a * 2`
# does not use `b`: predict what `grad` gives for `b` with `allow_unused=True`, and with `materialize_grads=True`
# (`None` or a number); and `c.grad` after a backward of `a * c` with `inputs=[a]`.

# %% [markdown] lang="zh"
# ## 一次算出所有行；只算其中几个
#
# 雅可比矩阵的每一行对应一个种子。`is_grads_batched=True` 可以一次接受叠在一起的所有种子。请预测
# $f(x) = (x_0 x_1,\; x_0,\; x_1^2)$ 的雅可比矩阵的形状（填列表），以及填满它时 `f` 运行了几次。再看 `y = a * 2`，它没有用到 `b`：
# 请预测 `allow_unused=True` 和 `materialize_grads=True` 时 `grad` 对 `b` 各给出什么（`None` 或一个数）；
# 以及对 `a * c` 用 `inputs=[a]` 反向传播之后的 `c.grad`。

# %%
guess_shape = [..., ...]
guess_runs = ...
guess_allowed = ...
guess_materialized = ...
guess_left_out = ...

# %%
runs = 0


def f(x):
    global runs
    runs += 1
    return torch.stack([x[0] * x[1], x[0], x[1] ** 2])


x = torch.tensor([2.0, 3.0], requires_grad=True)
y = f(x)
(matrix,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
lesson.compare(guess_shape, list(matrix.shape))
lesson.compare(guess_runs, runs)

a, b, c = (torch.tensor(value, requires_grad=True) for value in (1.0, 2.0, 3.0))
allowed = torch.autograd.grad(a * 2, [a, b], allow_unused=True)[1]
materialized = torch.autograd.grad(a * 2, [a, b], materialize_grads=True)[1]
(a * c).backward(inputs=[a])
lesson.compare(guess_allowed, allowed)
lesson.compare(guess_materialized, materialized)
lesson.compare(guess_left_out, c.grad)

# %% [markdown] lang="en"
# The same matrix in other words: `jacrev` and `jacobian` do the seeds for you, `vjp` gives one product, and `vmap` of
# `grad` gives a gradient for each sample of a batch.

# %% [markdown] lang="zh"
# 同一个矩阵还有别的写法：`jacrev` 和 `jacobian` 替你准备种子，`vjp` 给出一个乘积，对 `grad` 使用 `vmap` 则给出一批样本中每一个的梯度。

# %%
point = x.detach()
product = torch.func.vjp(f, point)[1]
print(matrix.tolist())
print(torch.func.jacrev(f)(point).tolist())
print(torch.autograd.functional.jacobian(f, point).tolist())
print(product(torch.tensor([0.0, 0.0, 1.0]))[0].tolist())
samples = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
print(torch.func.vmap(torch.func.grad(lambda row: (row**2).sum()))(samples).tolist())

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `row(f, x, i)`: row `i` of the Jacobian of the vector function `f` at the vector `x`, with one seed.
# `x.grad` must
# stay untouched.
#
# <details><summary>Hint</summary>
#
# `torch.autograd.grad(outputs, inputs, grad_outputs=seed)` returns a tuple and does not fill `.grad`.
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `row(f, x, i)`：用一个种子求向量函数 `f` 在向量 `x` 处的雅可比矩阵的第 `i` 行，并且不能改动 `x.grad`。
#
# <details><summary>提示</summary>
#
# `torch.autograd.grad(outputs, inputs, grad_outputs=seed)` 返回一个元组，不会写入 `.grad`。
#
# </details>


# %% exercise=1
def row(f, x, i):
    return ...


# %%
@lesson.check(1)
def check_row(want):
    matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    x = torch.tensor([1.0, -1.0], requires_grad=True)
    want.value(row(lambda x: matrix @ x, x, 1), [3.0, 4.0])
    want.value(row(lambda x: x.flip(0) * x[0], x, 0), [-1.0, 1.0])
    want.grad(x, None)


# %% solution=1
def row(f, x, i):
    y = f(x)
    seed = torch.zeros_like(y)
    seed[i] = 1
    return torch.autograd.grad(y, x, grad_outputs=seed)[0]


# %% wrong=1
def row(f, x, i):
    f(x)[i].backward()
    return x.grad


# %% wrong=1
def row(f, x, i):
    return torch.autograd.grad(f(x).sum(), x)[0]


# %% [markdown] lang="en"
# ## Exercise 2
#
# Two tasks share the parameter `w`; their losses are not combined yet. Write `weigh(losses, weights)` so that
# `w.grad`
# becomes the weighted sum of both gradients, **without adding a node** to the graph and in one backward pass:
# the weights
# are the seeds.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 两个任务共享参数 `w`，它们的损失还没有合并。写出 `weigh(losses, weights)`，使 `w.grad` 成为两个梯度的加权和。
# 要求只做一次反向传播，并且**不往图里添加任何节点**：权重就是种子。


# %% exercise=2
def weigh(losses, weights):
    return ...


# %%
@lesson.check(2)
def check_weigh(want):
    w = torch.tensor(2.0, requires_grad=True)
    arrivals = []
    shared = torch.exp(w)
    shared.register_hook(arrivals.append)
    losses = [shared * 3, shared**2]
    want.done(weigh(losses, [10.0, 0.5]))
    e = shared.item()
    want.grad(w, 30 * e + e * e)
    want.value(len(arrivals), 1)


# %% solution=2
def weigh(losses, weights):
    torch.autograd.backward(losses, [torch.tensor(weight) for weight in weights])


# %% wrong=2
def weigh(losses, weights):
    for loss, weight in zip(losses, weights, strict=True):
        (loss * weight).backward(retain_graph=True)


# %% wrong=2
def weigh(losses, weights):
    sum(losses).backward()


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# `train_step` computes one error for each sample and stops with an error. Repair it so that the gradient is
# that of the
# **mean** error over the batch, whatever the size of the batch.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# `train_step` 为每个样本算出一个误差，随后报错停下。请修复它，使得到的梯度对应整批误差的**平均值**，无论批大小是多少。


# %% exercise=3
def train_step(w, x, target):
    errors = (x @ w - target) ** 2
    errors.backward()
    return errors


# %%
@lesson.check(3)
def check_step(want):
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])
    w = torch.tensor([1.0, 1.0], requires_grad=True)
    train_step(w, x, torch.zeros(4))
    want.grad(w, [6.0, 3.0])
    w.grad = None
    train_step(w, x[:1], torch.zeros(1))
    want.grad(w, [2.0, 0.0])


# %% solution=3
def train_step(w, x, target):
    errors = (x @ w - target) ** 2
    errors.mean().backward()
    return errors


# %% wrong=3
def train_step(w, x, target):
    errors = (x @ w - target) ** 2
    errors.sum().backward()
    return errors


# %% wrong=3
def train_step(w, x, target):
    errors = (x @ w - target) ** 2
    errors.backward(torch.full_like(errors, 0.25))
    return errors


# %% [markdown] lang="en"
# ## What stays
#
# - `backward(v)` computes $v^\top J$: it weighs the rows of the Jacobian and never builds the table.
# - The seed may be left out for exactly one entry, of any shape.
# - Backward follows recorded nodes; your Python does not run again.

# %% [markdown] lang="zh"
# ## 小结
#
# - `backward(v)` 计算的是 $v^\top J$：对雅可比矩阵的各行加权求和，从不构造整张表。
# - 恰好只有一个元素时可以省略种子，形状不限。
# - 反向传播沿着记录下来的节点走，不会重新运行你的 Python 代码。

# %%
lesson
