# %% [markdown] lang="en"
# # A second backward: retain_graph and create_graph
#
# **Question.** Calling `backward()` twice sometimes fails and sometimes works. What decides it, and which of the two
# options is the right one when you need it twice?

# %% [markdown] lang="zh"
# # 第二次反向传播：retain_graph 与 create_graph
#
# **问题**：连续调用两次 `backward()`，有时报错，有时却能成功。由什么决定？确实需要两次时，两个选项中该用哪一个？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import teach

lesson = teach.Lesson("06", exercises=3)

# %% [markdown] lang="en"
# ## Predict
#
# Each function below is followed by two `backward()` calls on the same result. `True`: the second works.
# `False`: it raises.

# %% [markdown] lang="zh"
# ## 先预测
#
# 对下面每个函数的结果连续调用两次 `backward()`。第二次能成功填 `True`，会报错填 `False`。

# %%
guess_square = ...
guess_double = ...
guess_shift = ...
guess_sum = ...


# %%
def twice(function):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = function(x)
    seed = torch.ones_like(y)
    y.backward(seed)
    try:
        y.backward(seed)
    except RuntimeError:
        return False
    return True


lesson.compare(guess_square, twice(lambda x: x**2))
lesson.compare(guess_double, twice(lambda x: x * 2))
lesson.compare(guess_shift, twice(lambda x: x + 2))
lesson.compare(guess_sum, twice(lambda x: x.sum()))

# %% [markdown] lang="en"
# `backward()` frees what the nodes have saved as it goes. `x**2` needs `x` again to compute its derivative;
# that is gone,
# so it raises. A multiplication counts as needing its operands too, even when one is the number 2. Addition and `sum`
# saved nothing, so there is nothing to miss. "The second backward never works" is a myth.
#
# In the picture the orange squares are saved tensors. They become hollow when they are freed.

# %% [markdown] lang="zh"
# `backward()` 一边走一边释放各节点保存的东西。`x**2` 求导时还要用到 `x`，而它已经不在了，所以报错。乘法也算需要操作数，
# 哪怕其中一个只是数字 2。加法和 `sum` 什么也没保存，自然什么也不缺。“第二次反向传播一定失败”是个误解。
#
# 图中的橙色方块是保存的张量，释放之后会变成空心。

# %%
x = torch.tensor(2.0, requires_grad=True)
y = x**3
gradviz.show(y)

# %%
y.backward()
print("grad_fn:", y.grad_fn.name(), " inputs:", y.grad_fn.next_functions[0][0].name())

# %% tags=["raises-exception"]
y.backward()

# %% [markdown] lang="en"
# Note that `grad_fn` is still there after the backward, with its edges: you cannot tell from it whether a
# graph has been
# freed. Only the saved tensors went.
#
# ## Keeping it
#
# `retain_graph=True` keeps the saved tensors for one more backward. The gradients **add up**, as always. $x =
# 2$, $y =
# x^3$: what is `x.grad` after the two calls?

# %% [markdown] lang="zh"
# 注意：反向传播之后 `grad_fn` 和它的边都还在，所以不能凭它判断图是否已被释放。消失的只有保存的张量。
#
# ## 把它留住
#
# `retain_graph=True` 会把保存的张量留给下一次反向传播。梯度照例会**累加**。$x = 2$，$y = x^3$，两次调用之后 `x.grad` 是多少？

# %%
guess_two_calls = ...

# %%
x = torch.tensor(2.0, requires_grad=True)
y = x**3
y.backward(retain_graph=True)
y.backward()
lesson.compare(guess_two_calls, x.grad.item())

# %% [markdown] lang="en"
# ## Differentiating the gradient
#
# For a second derivative many reach for `retain_graph=True`, since "the graph is needed again". Will it do? Predict
# `True` or `False`.

# %% [markdown] lang="zh"
# ## 对梯度再求导
#
# 求二阶导数时，很多人会用 `retain_graph=True`，因为“图还要再用一次”。这样行吗？请填 `True` 或 `False`。

# %%
guess_retain_is_enough = ...

# %%
x = torch.tensor(2.0, requires_grad=True)
(first,) = torch.autograd.grad(x**3, x, retain_graph=True)
print("retain_graph:", first)
lesson.compare(guess_retain_is_enough, first.requires_grad)

(first,) = torch.autograd.grad(x**3, x, create_graph=True)
print("create_graph:", first)
(second,) = torch.autograd.grad(first, x)
print("second derivative:", second.item())

# %% [markdown] lang="en"
# `retain_graph` keeps the **old** graph; the gradient that comes out is a plain number without a history.
# `create_graph` also **records the backward itself**, so that the gradient has a graph of its own and can be
# differentiated. (It keeps the old graph too: the new one needs it.) The tower shows a function, its
# derivatives and how
# the graph grows with each.

# %% [markdown] lang="zh"
# `retain_graph` 留住的是**旧**图；得到的梯度只是没有来历的数值。`create_graph` 则会把**反向传播本身也记录下来**，
# 于是梯度有了自己的图，可以继续求导。（它也会留住旧图，因为新图要用到它。）下面的“导数塔”展示一个函数、它的各阶导数，
# 以及图是怎样随阶数变大的。

# %%
gradviz.DerivativeTower(lambda x: x**3 - 2 * x, order=3, low=-2.0, high=2.0)

# %% [markdown] lang="en"
# ## What a node keeps, and for how long
#
# A node keeps only what its derivative needs: an addition nothing, a product both factors. After backward the kept
# tensors are gone but `grad_fn` is still there, so it does not tell whether the graph is freed. And `create_graph`
# keeps more: the backward is itself recorded.

# %% [markdown] lang="zh"
# ## 节点保存什么，保存多久
#
# 节点只保存导数需要的东西：加法什么也不存，乘法存两个因子。反向传播之后，保存的张量没有了，`grad_fn` 却还在，
# 所以不能靠它判断图是否已释放。`create_graph` 保存得更多：反向传播本身也被记录下来了。


# %%
def kept_by(function):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        function()
    return len(kept)


p = torch.tensor([1.0, 2.0], requires_grad=True)
q = torch.tensor([3.0, 4.0], requires_grad=True)
print("add", kept_by(lambda: p + q), "mul", kept_by(lambda: p * q), "exp", kept_by(lambda: p.exp()))
for create in (False, True):
    count = kept_by(lambda: torch.autograd.grad((p**3).sum(), p, create_graph=create))
    print("create_graph" if create else "plain", count)

y = p * q
print(y.grad_fn._saved_self)
y.sum().backward()
print(y.grad_fn.name())
try:
    print(y.grad_fn._saved_self)
except RuntimeError as error:
    print(str(error).split(".")[0])

# %% [markdown] lang="en"
# ## Exercise 1
#
# Two losses share a trunk. Write `both(first, second)`: two separate backward passes, after which the
# gradients are there
# and the saved tensors of the trunk are **freed**.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 两个损失共用一段主干。写出 `both(first, second)`：分别做两次反向传播，之后梯度齐全，并且主干保存的张量都已**释放**。


# %% exercise=1
def both(first, second):
    return ...


# %%
@lesson.check(1)
def check_both(want):
    w = torch.tensor(2.0, requires_grad=True)
    passes = []
    w.register_hook(passes.append)
    trunk = torch.exp(w) * w
    first, second = trunk**2, torch.sin(trunk)
    want.done(both(first, second))
    t, slope = trunk.item(), (torch.exp(w) * (1 + w)).item()
    want.grad(w, (2 * t + torch.cos(trunk).item()) * slope)
    want.value(len(passes), 2)
    want.saved(trunk, 0)


# %% solution=1
def both(first, second):
    first.backward(retain_graph=True)
    second.backward()


# %% wrong=1
def both(first, second):
    first.backward(retain_graph=True)
    second.backward(retain_graph=True)


# %% wrong=1
def both(first, second):
    first.backward()
    second.backward()


# %% wrong=1
def both(first, second):
    (first + second).backward()


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `derivative(f, x, n)`: the `n`-th derivative of `f` at the number `x`.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `derivative(f, x, n)`：`f` 在数 `x` 处的 `n` 阶导数。


# %% exercise=2
def derivative(f, x, n):
    return ...


# %%
@lesson.check(2)
def check_derivative(want):
    want.value(derivative(lambda x: x**4, 2.0, 1), 32.0)
    want.value(derivative(lambda x: x**4, 2.0, 3), 48.0)
    want.value(derivative(torch.sin, 0.0, 5), 1.0)


# %% solution=2
def derivative(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    y = f(x)
    for _ in range(n):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    return y.item()


# %% wrong=2
def derivative(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    y = f(x)
    for _ in range(n):
        (y,) = torch.autograd.grad(y, x, retain_graph=True)
    return y.item()


# %% wrong=2
def derivative(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    y = f(x)
    for _ in range(n):
        y.backward(retain_graph=True)
    return x.grad.item()


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# "Retain, do something, backward again" is fine until the something is `optimizer.step()`: it changes the weights in
# place, and the retained graph was recorded with the old ones. Repair `two_steps` so that it takes two
# correct steps of
# gradient descent, each with the gradient at the weights it starts from.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# “保留图、做点别的、再反向一次”本来没有问题，除非做的是 `optimizer.step()`：它会就地修改权重，而保留下来的图是用旧权重记录的。
# 请修复 `two_steps`，让它正确地走两步梯度下降，每一步都用出发点处的梯度。


# %% exercise=3
def two_steps(w, optimizer):
    loss = torch.exp(w).sum()
    for _ in range(2):
        optimizer.zero_grad()
        (loss * w.sum()).backward(retain_graph=True)
        optimizer.step()


# %%
@lesson.check(3)
def check_two_steps(want):
    w = torch.tensor([0.5, 1.0], requires_grad=True)
    kept = []
    w.register_hook(lambda g: kept.append(g.tolist()))
    two_steps(w, torch.optim.SGD([w], lr=0.1))
    v = torch.tensor([0.5, 1.0], requires_grad=True)
    for _ in range(2):
        (g,) = torch.autograd.grad(torch.exp(v).sum() * v.sum(), v)
        v = (v - 0.1 * g).detach().requires_grad_()
    want.value(w, v.tolist())
    want.value(len(kept), 2)
    want.leaf(w)


# %% solution=3
def two_steps(w, optimizer):
    for _ in range(2):
        loss = torch.exp(w).sum()
        optimizer.zero_grad()
        (loss * w.sum()).backward()
        optimizer.step()


# %% wrong=3
def two_steps(w, optimizer):
    loss = torch.exp(w).sum()
    optimizer.zero_grad()
    (loss * w.sum()).backward()
    for _ in range(2):
        optimizer.step()


# %% wrong=3
def two_steps(w, optimizer):
    for _ in range(2):
        loss = torch.exp(w).sum()
        (loss * w.sum()).backward()
        optimizer.step()


# %% [markdown] lang="en"
# ## What stays
#
# - A second backward fails when a node needs a saved tensor that was freed. `grad_fn` does not tell.
# - The usual remedy is to compute the result again. `retain_graph` is for two backwards through one graph;
#   `create_graph` is for differentiating a gradient.
# - The last backward through a graph should not retain it.

# %% [markdown] lang="zh"
# ## 小结
#
# - 如果某个节点需要的保存张量已被释放，第二次反向传播就会失败；`grad_fn` 看不出这一点。
# - 通常的办法是把结果重新算一遍。`retain_graph` 用于在同一张图上反向两次；`create_graph` 用于对梯度再求导。
# - 最后一次经过某张图的反向传播不应再保留它。

# %%
lesson
