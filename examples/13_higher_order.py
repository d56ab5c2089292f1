# %% [markdown] lang="en"
# # Higher order: meta-learning, physics, gradient penalty
#
# **Question.** What is it good for that a gradient can be differentiated again, and what does it cost?

# %% [markdown] lang="zh"
# # 高阶导数：元学习、物理约束与梯度惩罚
#
# **问题**：梯度可以再求导，这有什么用？代价又是什么？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("13", exercises=4)

# %% [markdown] lang="en"
# ## The tower
#
# Look at $f$, $f'$, $f''$ as curves, and at the size of their graphs. Before that, predict the first and the second
# derivative of $x^3$ at 3, and what the printed first derivative carries: a `grad_fn` or not?

# %% [markdown] lang="zh"
# ## 导数塔
#
# 看一看 $f$、$f'$、$f''$ 的曲线，以及各自计算图的大小。在此之前，请预测 $x^3$ 在 3 处的一阶和二阶导数，
# 以及打印出来的一阶导数带不带 `grad_fn`（带填 `True`）。

# %%
guess_first = ...
guess_second = ...
guess_has_graph = ...

# %%
x = torch.tensor(3.0, requires_grad=True)
(first,) = torch.autograd.grad(x**3, x, create_graph=True)
(second,) = torch.autograd.grad(first, x)
print(first, second)

lesson.compare(guess_first, first.item())
lesson.compare(guess_second, second.item())
lesson.compare(guess_has_graph, first.grad_fn is not None)

# %%
gradviz.DerivativeTower(lambda x: torch.sin(x) * x, order=3)

# %% [markdown] lang="en"
# ## A gradient step inside the graph
#
# Meta-learning asks: which **starting point** $\theta$ is good *after one step* of learning? The inner step is
# $\theta' = \theta - \alpha \, \partial L / \partial \theta$, the outer loss is measured at $\theta'$. With
# $L(\theta) =
# \theta^4$, $\theta = 1$ and $\alpha = 0.1$: $\theta' = 1 - 0.4 = 0.6$. The derivative of $\theta'^2$ with
# respect to $\theta$ is
#
# $$2\theta' \cdot (1 - \alpha \, L''(\theta)) = 1.2 \cdot (1 - 1.2).$$
#
# Without `create_graph` the inner gradient is a constant, and the factor in brackets is 1. Predict both numbers.

# %% [markdown] lang="zh"
# ## 图里的一步梯度下降
#
# 元学习问的是：从哪个**起点** $\theta$ 出发，**学一步之后**的结果好？内层一步
# 是 $\theta' = \theta - \alpha \, \partial L / \partial \theta$，
# 外层损失在 $\theta'$ 处计算。取 $L(\theta) = \theta^4$，$\theta = 1$，$\alpha = 0.1$，
# 则 $\theta' = 1 - 0.4 = 0.6$。$\theta'^2$ 对 $\theta$ 的导数是
#
# $$2\theta' \cdot (1 - \alpha \, L''(\theta)) = 1.2 \cdot (1 - 1.2).$$
#
# 如果不用 `create_graph`，内层梯度就是常数，括号里的因子是 1。请预测这两个数。

# %%
guess_full = ...
guess_first_order = ...


# %%
def meta_gradient(create_graph):
    theta = torch.tensor(1.0, requires_grad=True)
    (inner,) = torch.autograd.grad(theta**4, theta, create_graph=create_graph)
    moved = theta - 0.1 * inner
    outer = moved**2
    outer.backward()
    return theta.grad.item(), outer


full, outer = meta_gradient(create_graph=True)
first_order, _ = meta_gradient(create_graph=False)
lesson.compare(guess_full, full)
lesson.compare(guess_first_order, first_order)
gradviz.show(outer)

# %% [markdown] lang="en"
# Even the **sign** differs: from here a larger $\theta$ makes the loss after the step smaller. In the picture
# the inner backward is
# part of the graph: there are nodes for the derivative of $\theta^4$.
#
# ## The bill
#
# The graph of the gradient needs the first graph, so both stay alive. Predict: does the outer graph hold more
# operations
# with `create_graph=True`?

# %% [markdown] lang="zh"
# 连**符号**都不同：从这里出发，$\theta$ 越大，走一步之后的损失反而越小。在图里，内层的反向传播成了图的一部分：可以看
# 到 $\theta^4$ 求导的节点。
#
# ## 账单
#
# 梯度的图要用到原来的图，所以两张图都活着。请预测：`create_graph=True` 时，外层图里的运算是不是更多？

# %%
guess_more = ...


# %%
def size(result):
    seen, waiting = set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [before for before, _ in node.next_functions]
    return len(seen)


with_graph, without = (size(meta_gradient(create_graph)[1]) for create_graph in (True, False))
lesson.compare(guess_more, with_graph > without)

# %% [markdown] lang="en"
# ## A physics-informed loss
#
# A small network $u(t)$ shall obey $u'' = -u$ with $u(0) = 0$ and $u'(0) = 1$; the answer is the sine. No
# data at all: the
# loss is the equation. Its derivative in $t$ is taken with `create_graph`, since the loss is then differentiated once
# more, by the weights.

# %% [markdown] lang="zh"
# ## 物理约束的损失
#
# 让一个小网络 $u(t)$ 满足 $u'' = -u$，$u(0) = 0$，$u'(0) = 1$，解就是正弦函数。完全不用数据：方程本身就是损失。
# 对 $t$ 的导数要用 `create_graph`，因为损失之后还要再对权重求导。


# %%
def slope(u, t):
    return torch.autograd.grad(u.sum(), t, create_graph=True)[0]


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
t = torch.linspace(0, 3, 24).reshape(-1, 1).requires_grad_()

cockpit = gradviz.Cockpit()
for _ in range(300):
    u = net(t)
    du = slope(u, t)
    ddu = slope(du, t)
    loss = ((ddu + u) ** 2).mean() + u[0, 0] ** 2 + (du[0, 0] - 1) ** 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    cockpit.log(loss=loss.item())
cockpit

# %%
error = (net(t) - torch.sin(t)).abs().max().item()
print("largest error below 0.1:", error < 0.1)

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `hessian(f, x)`: the matrix of all second derivatives of the number `f(x)` at the vector `x`, from
# `torch.autograd.grad` alone.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `hessian(f, x)`：数 `f(x)` 在向量 `x` 处的全部二阶导数组成的矩阵，只用 `torch.autograd.grad`。


# %% exercise=1
def hessian(f, x):
    return ...


# %%
@lesson.check(1)
def check_hessian(want):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    want.value(hessian(lambda x: x[0] ** 2 * x[1], x), [[4.0, 2.0], [2.0, 0.0]])
    want.value(hessian(lambda x: (x**3).sum(), x), [[6.0, 0.0], [0.0, 12.0]])
    want.grad(x, None)


# %% solution=1
def hessian(f, x):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.stack([torch.autograd.grad(one, x, retain_graph=True)[0] for one in g])


# %% wrong=1
def hessian(f, x):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.diag(torch.autograd.grad(g.sum(), x)[0])


# %% wrong=1
def hessian(f, x):
    (g,) = torch.autograd.grad(f(x), x, retain_graph=True)
    return torch.stack([torch.autograd.grad(one, x, retain_graph=True)[0] for one in g])


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `hvp(f, x, v)`: the Hessian times the vector `v`, **without building the matrix**: two calls of
# `grad`, whatever the
# length of `x`.
#
# <details><summary>Hint</summary>
#
# The product is the gradient of (gradient · v).
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `hvp(f, x, v)`：海森矩阵乘以向量 `v`，但**不构造矩阵**：无论 `x` 多长，只调用两次 `grad`。
#
# <details><summary>提示</summary>
#
# 这个乘积就是（梯度 · v）的梯度。
#
# </details>


# %% exercise=2
def hvp(f, x, v):
    return ...


# %%
@lesson.check(2)
def check_hvp(want):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    passes = []
    x.register_hook(passes.append)
    want.value(hvp(lambda x: (x**3).sum(), x, torch.tensor([1.0, 0.0, 2.0])), [6.0, 0.0, 36.0])
    want.that(len(passes) <= 2)
    want.value(hvp(lambda x: x.prod(), x, torch.tensor([1.0, 1.0, 0.0])), [3.0, 3.0, 3.0])


# %% solution=2
def hvp(f, x, v):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad((g * v).sum(), x)[0]


# %% wrong=2
def hvp(f, x, v):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(g.sum(), x)[0] * v


# %% wrong=2
def hvp(f, x, v):
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.stack([torch.autograd.grad(one, x, retain_graph=True)[0] for one in g]) @ v


# %% [markdown] lang="en"
# ## Exercise 3
#
# A *gradient penalty* asks a critic to have slope 1 everywhere: the mean over the samples of $(\lVert \partial c /
# \partial x \rVert - 1)^2$. Write `penalty(critic, x)`; it has to be differentiable by the critic's parameters.

# %% [markdown] lang="zh"
# ## 练习 3
#
# **梯度惩罚**要求判别器处处斜率为 1：对各样本的 $(\lVert \partial c / \partial x \rVert - 1)^2$ 取平均。写
# 出 `penalty(critic, x)`，
# 它必须能对判别器的参数求导。


# %% exercise=3
def penalty(critic, x):
    return ...


# %%
@lesson.check(3)
def check_penalty(want):
    critic = nn.Linear(2, 1)
    with torch.no_grad():
        critic.weight.copy_(torch.tensor([[3.0, 4.0]]))
    x = torch.randn(5, 2)
    result = penalty(critic, x)
    want.value(result, 16.0)
    want.flows(critic.weight, result)
    want.untracked(x)
    result.backward()
    want.grad(critic.weight, [[4.8, 6.4]])


# %% solution=3
def penalty(critic, x):
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return ((g.norm(dim=1) - 1) ** 2).mean()


# %% wrong=3
def penalty(critic, x):
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(critic(x).sum(), x)
    return ((g.norm(dim=1) - 1) ** 2).mean()


# %% wrong=3
def penalty(critic, x):
    x.requires_grad_()
    (g,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return ((g.norm(dim=1) - 1) ** 2).mean()


# %% wrong=3
def penalty(critic, x):
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return (g.norm() - 1) ** 2


# %% [markdown] lang="en"
# ## Exercise 4: repair
#
# `meta_step` should improve the starting point by the loss after one inner step. It runs, and silently uses
# the first-order
# gradient only. Also, what it returns is no longer a leaf, and should be one. Repair it.

# %% [markdown] lang="zh"
# ## 练习 4：修复
#
# `meta_step` 应当根据内层走一步之后的损失来改进起点。它能运行，却悄悄地只用了一阶梯度；而且返回的 `theta` 不再是叶
# 子，它本应是叶子。请修复它。


# %% exercise=4
def meta_step(theta, loss, rate):
    inner = torch.autograd.grad(loss(theta), theta)[0]
    outer = loss(theta - rate * inner)
    (g,) = torch.autograd.grad(outer, theta)
    theta = theta - rate * g
    return theta


# %%
@lesson.check(4)
def check_meta(want):
    theta = torch.tensor(1.0, requires_grad=True)
    new = meta_step(theta, lambda p: p**4, 0.1)
    want.value(new, 1 - 0.1 * 4 * 0.6**3 * (1 - 0.1 * 12))
    want.leaf(new)
    for _ in range(3):
        new = meta_step(new, lambda p: p**4, 0.1)
    want.leaf(new)


# %% solution=4
def meta_step(theta, loss, rate):
    (inner,) = torch.autograd.grad(loss(theta), theta, create_graph=True)
    outer = loss(theta - rate * inner)
    (g,) = torch.autograd.grad(outer, theta)
    return (theta - rate * g).detach().requires_grad_()


# %% wrong=4
def meta_step(theta, loss, rate):
    inner = torch.autograd.grad(loss(theta), theta)[0]
    outer = loss(theta - rate * inner)
    (g,) = torch.autograd.grad(outer, theta)
    return (theta - rate * g).detach().requires_grad_()


# %% wrong=4
def meta_step(theta, loss, rate):
    (inner,) = torch.autograd.grad(loss(theta), theta, create_graph=True)
    outer = loss(theta - rate * inner)
    (g,) = torch.autograd.grad(outer, theta, create_graph=True)
    return theta - rate * g


# %% [markdown] lang="en"
# ## What stays
#
# - `create_graph=True` puts the backward itself into the graph. It is needed wherever a gradient is part of a loss.
# - Forgetting it is silent: the inner gradient becomes a constant.
# - For Hessian times vector take the gradient twice; never build the matrix.

# %% [markdown] lang="zh"
# ## 小结
#
# - `create_graph=True` 把反向传播本身也放进图里。凡是损失里含有梯度的地方都需要它。
# - 忘了它不会报错：内层梯度会变成常数。
# - 求海森矩阵乘以向量，只需求两次梯度，不要构造矩阵。

# %%
lesson
