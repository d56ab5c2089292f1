# %% [markdown] lang="en"
# # From NumPy by hand to autograd
#
# **Question.** How much of autograd can you write yourself? (About fifty lines' worth.)

# %% [markdown] lang="zh"
# # 从手写 NumPy 到自动微分
#
# **问题**：自动微分，你自己能写出多少？（大约五十行就够了。）

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
import numpy as np
from gradviz import teach

lesson = teach.Lesson("20", exercises=4)

# %% [markdown] lang="en"
# ## A network by hand
#
# Two layers, $h = \tanh(x W_1 + b_1)$ and $\hat y = h W_2 + b_2$, and the mean squared error. Backward is the
# chain rule, from the end to the front. Each line needs one number from the line
# after it and something **saved** from forward.

# %% [markdown] lang="zh"
# ## 手写一个网络
#
# 两层：$h = \tanh(x W_1 + b_1)$，$\hat y = h W_2 + b_2$，损失是均方误差。反向就是从后往前用链式法则。每一行都需要后一
# 行算出的梯度，以及前向时**保存**下来的东西。

# %%
rng = np.random.default_rng(0)
x, y = rng.normal(size=(16, 2)), rng.normal(size=(16, 1))
W1, b1 = rng.normal(size=(2, 8)), np.zeros(8)
W2, b2 = rng.normal(size=(8, 1)), np.zeros(1)

h = np.tanh(x @ W1 + b1)
guess_y = h @ W2 + b2
loss = ((guess_y - y) ** 2).mean()

d_guess = 2 * (guess_y - y) / y.size
d_W2, d_b2 = h.T @ d_guess, d_guess.sum(0)
d_h = d_guess @ W2.T
d_z = d_h * (1 - h**2)
d_W1, d_b1 = x.T @ d_z, d_z.sum(0)

# %% [markdown] lang="en"
# Before you compare: which two of these shapes must be equal, by a rule that always helps to find the right
# transposition? Predict the shapes of `d_W1` and `d_b1` as lists.

# %% [markdown] lang="zh"
# 比较之前先想一想：有一条规则总能帮你找对该转置谁，它说的是哪两个形状必须相等？请预测 `d_W1` 和 `d_b1` 的形状，写成列表。

# %%
guess_shape_W1 = ...
guess_shape_b1 = ...

# %%
lesson.compare(guess_shape_W1, list(d_W1.shape))
lesson.compare(guess_shape_b1, list(d_b1.shape))

# %% [markdown] lang="en"
# A gradient has the shape of what it is the gradient of. Now the same with autograd. Do all four agree? And
# predict the names of the nodes in order, from the result to the front: which comes
# **second**, after `MeanBackward0`?

# %% [markdown] lang="zh"
# 梯度与它所对应的量形状相同。现在用自动微分做同样的事。四个梯度都一致吗？再请预测从结果往前的节点名
# 称：`MeanBackward0` 之后的**第二个**是什么？

# %%
guess_agree = ...
guess_second_node = ...

# %%
T1, c1, T2, c2 = (torch.tensor(v, requires_grad=True) for v in (W1, b1, W2, b2))
inputs, target = torch.tensor(x), torch.tensor(y)
result = ((torch.tanh(inputs @ T1 + c1) @ T2 + c2 - target) ** 2).mean()
result.backward()

by_hand = {"W1": d_W1, "b1": d_b1, "W2": d_W2, "b2": d_b2}
by_engine = {"W1": T1, "b1": c1, "W2": T2, "b2": c2}
agree = all(np.allclose(by_hand[name], by_engine[name].grad.numpy()) for name in by_hand)
second_node = result.grad_fn.next_functions[0][0].name()
lesson.compare(guess_agree, agree)
lesson.compare(guess_second_node, second_node)
gradviz.show(result)

# %% [markdown] lang="en"
# The picture is your program turned round: for every line of the backward there is a node, and every saved
# thing is an orange square. Addition has none: it saves nothing, although you may
# read that it "needs its inputs".
#
# ## A node of your own
#
# Here is the whole idea in one class, for single numbers. A `Value` remembers what it was made from, and for
# each of them the local slope.

# %% [markdown] lang="zh"
# 这幅图就是把你的程序倒过来：反向的每一行对应一个节点，每样保存的东西对应一个橙色方块。加法没有方块：它什么都不保存，
# 尽管有的文章说它“需要输入”。
#
# ## 自己的节点
#
# 下面这个类包含了全部思想，只处理单个数。一个 `Value` 记得自己由谁算出，以及对其中每一个的局部斜率。


# %%
class Value:
    def __init__(self, number, parents=()):
        self.number, self.parents, self.grad = number, parents, 0.0

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.number + other.number, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.number * other.number, ((self, other.number), (other, self.number)))

    __radd__, __rmul__ = __add__, __mul__


# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `tanh(value)`, a new `Value` with its local slope.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `tanh(value)`：返回一个带有局部斜率的新 `Value`。


# %% exercise=1
def tanh(value):
    return ...


# %%
@lesson.check(1)
def check_tanh(want):
    v = Value(0.5)
    result = tanh(v)
    want.value(result.number, float(np.tanh(0.5)))
    ((parent, slope),) = result.parents
    want.that(parent is v)
    want.value(slope, float(1 - np.tanh(0.5) ** 2))


# %% solution=1
def tanh(value):
    t = float(np.tanh(value.number))
    return Value(t, ((value, 1 - t * t),))


# %% wrong=1
def tanh(value):
    t = float(np.tanh(value.number))
    return Value(t, ((value, 1 - value.number**2),))


# %% wrong=1
def tanh(value):
    return Value(float(np.tanh(value.number)))


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `backward(root)`: fills `grad` of every `Value` that `root` was computed from. A value that is used
# twice gets the sum, and a node may pass its gradient on only **after all** of it has
# arrived. Do not recurse: the graph may be a chain of 100,000.
#
# <details><summary>Hint</summary>
#
# First count for each node how many times it is used. Then go from the root; a node is ready when everything
# that uses it has been done.
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `backward(root)`：为计算 `root` 用到的每个 `Value` 填好 `grad`。用了两次的值得到的是总和；一个节点必须等自己的
# 梯度**全部**到齐之后，才能继续往前传。
# 不要用递归：图可能是一条长达十万的链。
#
# <details><summary>提示</summary>
#
# 先统计每个节点被使用了多少次，再从根出发；当使用它的节点都处理完了，它就准备好了。
#
# </details>


# %% exercise=2
def backward(root):
    return ...


# %%
@lesson.check(2)
def check_backward(want):
    a, b = Value(2.0), Value(3.0)
    shared = a * b
    result = shared * shared + a
    want.done(backward(result))
    p, q = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    ((p * q) ** 2 + p).backward()
    want.value(a.grad, p.grad.item())
    want.value(b.grad, q.grad.item())
    start = chain = Value(1.0)
    for _ in range(100_000):
        chain = chain + 1
    backward(chain)
    want.value(start.grad, 1.0)
    top = bottom = Value(1.0)
    for _ in range(40):
        top = top + top
    backward(top)
    want.value(bottom.grad, 2.0**40)


# %% solution=2
def backward(root):
    uses, waiting = {root: 0}, [root]
    while waiting:
        for parent, _ in waiting.pop().parents:
            if parent not in uses:
                uses[parent] = 0
                waiting.append(parent)
            uses[parent] += 1
    root.grad, ready = 1.0, [root]
    while ready:
        node = ready.pop()
        for parent, slope in node.parents:
            parent.grad += node.grad * slope
            uses[parent] -= 1
            if not uses[parent]:
                ready.append(parent)


# %% wrong=2
def backward(root):
    root.grad, waiting = 1.0, [root]
    for _ in range(400_000):
        if not waiting:
            return
        node = waiting.pop()
        for parent, slope in node.parents:
            parent.grad += node.grad * slope
            waiting.append(parent)


# %% wrong=2
def backward(root):
    def visit(node):
        for parent, slope in node.parents:
            parent.grad += node.grad * slope
            visit(parent)

    root.grad = 1.0
    visit(root.parents[0][0])


# %% [markdown] lang="en"
# ## Exercise 3
#
# In a graph of arrays there is one more thing: broadcasting. `x + b` stretches `b` over the rows; backward
# has to add up what was stretched. Write `unbroadcast(grad, shape)` in NumPy.

# %% [markdown] lang="zh"
# ## 练习 3
#
# 数组的图里还多一件事：广播。`x + b` 把 `b` 拉伸到每一行；反向时要把拉伸的部分加回来。请用 NumPy 写
# 出 `unbroadcast(grad, shape)`。


# %% exercise=3
def unbroadcast(grad, shape):
    return ...


# %%
@lesson.check(3)
def check_unbroadcast(want):
    for shape in ((3,), (2, 1), (1, 3), (), (2, 3), (1, 1)):
        b = torch.zeros(shape, requires_grad=True)
        seed = torch.arange(6.0).reshape(2, 3)
        (torch.ones(2, 3) * 2 + b).backward(seed)
        found = unbroadcast(seed.numpy(), shape)
        want.done(found)
        want.value(np.asarray(found).tolist(), b.grad.tolist())


# %% solution=3
def unbroadcast(grad, shape):
    grad = grad.sum(tuple(range(grad.ndim - len(shape))))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and grad.shape[i] != 1)
    return grad.sum(stretched, keepdims=True)


# %% wrong=3
def unbroadcast(grad, shape):
    return grad.sum(0) if grad.shape != shape else grad


# %% wrong=3
def unbroadcast(grad, shape):
    return grad.sum(tuple(range(grad.ndim - len(shape))))


# %% [markdown] lang="en"
# ## Exercise 4: repair
#
# A numerical gradient is the referee for everything by hand. This one, found in a tutorial, is wrong for
# `float32` input, and it changes its input. Repair `numerical(f, x)`: compute in
# `float64`, central differences, `x` untouched.

# %% [markdown] lang="zh"
# ## 练习 4：修复
#
# 手写的一切都要由数值梯度来裁判。下面这个来自某篇教程，对 `float32` 输入算不对，还会改动输入。请修
# 复 `numerical(f, x)`：用 `float64` 计算，取中心差分，不改动 `x`。


# %% exercise=4
def numerical(f, x, eps=1e-6):
    grad = np.zeros_like(x)
    for i in range(x.size):
        x.flat[i] += eps
        up = f(x)
        x.flat[i] -= eps
        down = f(x)
        grad.flat[i] = (up - down) / eps
    return grad


# %%
@lesson.check(4)
def check_numerical(want):
    start = np.array([[1.0, 200.0], [-3.0, 0.1]], dtype=np.float32)
    x = start.copy()
    found = numerical(lambda v: (v**2).sum(), x)
    want.value(found.tolist(), (2 * start.astype(np.float64)).tolist(), within=1e-5)
    want.that(bool((x == start).all()))
    want.value(numerical(lambda v: np.exp(v).sum(), np.zeros(2)).tolist(), [1.0, 1.0], within=1e-8)


# %% solution=4
def numerical(f, x, eps=1e-6):
    x = x.astype(np.float64)
    grad = np.zeros_like(x)
    for i in range(x.size):
        kept = x.flat[i]
        x.flat[i] = kept + eps
        up = f(x)
        x.flat[i] = kept - eps
        down = f(x)
        x.flat[i] = kept
        grad.flat[i] = (up - down) / (2 * eps)
    return grad


# %% wrong=4
def numerical(f, x, eps=1e-2):
    grad = np.zeros_like(x)
    for i in range(x.size):
        kept = x.flat[i]
        x.flat[i] = kept + eps
        up = f(x)
        x.flat[i] = kept - eps
        down = f(x)
        x.flat[i] = kept
        grad.flat[i] = (up - down) / (2 * eps)
    return grad


# %% wrong=4
def numerical(f, x, eps=1e-6):
    x = x.astype(np.float64)
    grad = np.zeros_like(x)
    for i in range(x.size):
        kept = x.flat[i]
        x.flat[i] = kept + eps
        up = f(x)
        x.flat[i] = kept
        grad.flat[i] = (up - f(x)) / eps
    return grad


# %% [markdown] lang="en"
# ## What stays
#
# - Autograd is the chain rule with a record: what each result was made from, its local slope, and what had to
#   be saved.
# - Backward counts uses, so that every node runs once with the whole sum.
# - Check what you wrote by hand against a numerical gradient in `float64`.

# %% [markdown] lang="zh"
# ## 小结
#
# - 自动微分就是带记录的链式法则：每个结果由谁算出、局部斜率是多少、需要保存什么。
# - 反向传播统计使用次数，使每个节点带着完整的总和只运行一次。
# - 手写的东西，要用 `float64` 的数值梯度来核对。

# %%
lesson
