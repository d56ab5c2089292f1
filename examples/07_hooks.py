# %% [markdown] lang="en"
# # Looking inside: retain_grad and hooks
#
# **Question.** The gradient of an intermediate result exists for a moment and is gone. How do you see it, and can you
# change it on its way?

# %% [markdown] lang="zh"
# # 看到中间：retain_grad 与钩子
#
# **问题**：中间结果的梯度只存在一瞬间。怎样才能看到它？能不能在半路上改变它？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("07", exercises=3)

# %% [markdown] lang="en"
# ## Keep it
#
# `h.retain_grad()` asks for the gradient of `h` to be stored as well. It has to be asked **before** the
# backward. Here
# it is asked for `h` before and for `z` after. Predict whether each has a gradient in the end.

# %% [markdown] lang="zh"
# ## 把它留下
#
# `h.retain_grad()` 要求把 `h` 的梯度也存下来，必须在反向传播**之前**提出。下面对 `h` 是事先提出的，对 `z` 是事后才提出的。
# 最后它们各自有没有梯度？

# %%
guess_h = ...
guess_z = ...

# %%
import warnings

x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x**2
z = h.sum()
h.retain_grad()
z.backward()
z.retain_grad()
gradviz.show(z)

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lesson.compare(guess_h, h.grad is not None)
    lesson.compare(guess_z, z.grad is not None)

# %% [markdown] lang="en"
# `retain_grad` costs one gradient of memory for each tensor, and accumulates like a leaf. On a leaf it does
# nothing: a
# leaf keeps its gradient anyway.
#
# ## Hear it
#
# A hook is a function that is called with the gradient when it passes. What it returns **replaces** the
# gradient; `None`
# lets it through. Two hooks on `h`, in this order: one doubles, one clips to at most 1. The gradient that arrives is
# 0.8. What will `x.grad` be?

# %% [markdown] lang="zh"
# `retain_grad` 要为每个张量多占一份梯度的内存，并且和叶子一样会累加。对叶子调用它没有作用：叶子本来就会保留梯度。
#
# ## 听到它
#
# 钩子是一个函数，梯度经过时会以梯度为参数调用它。它的返回值会**替换**梯度；返回 `None` 则原样放行。
# 在 `h` 上依次挂两个钩子：先加倍，再截断到不超过 1。到达的梯度是 0.8，`x.grad` 会是多少？

# %%
guess_chain = ...

# %%
x = torch.tensor(1.0, requires_grad=True)
h = x * 1.0
double = h.register_hook(lambda grad: grad * 2)
clip = h.register_hook(lambda grad: grad.clamp(max=1.0))
(h * 0.8).backward()
lesson.compare(guess_chain, x.grad.item())

# %% [markdown] lang="en"
# Hooks run in the order in which they were added, each with what the one before returned. The bench lists
# them, with the
# line that added each and a button to remove it.

# %% [markdown] lang="zh"
# 钩子按添加的先后顺序运行，每个都接收前一个的返回值。下面的“钩子台”列出所有钩子，标明各自是哪一行添加的，还有移除按钮。

# %%
gradviz.HookBench(h=h, x=x)

# %% [markdown] lang="en"
# ## How long does a hook live?
#
# "A hook goes away by itself after the backward." Measure it: a hook on a leaf, three backward passes, then
# `remove()`, then
# a fourth. How many calls?

# %% [markdown] lang="zh"
# ## 钩子能活多久？
#
# “钩子在反向传播之后会自动失效。”我们来测一测：在叶子上挂一个钩子，做三次反向传播，然后 `remove()`，再做第四次。它一
# 共被调用几次？

# %%
guess_calls = ...

# %%
calls = []
w = torch.tensor(1.0, requires_grad=True)
handle = w.register_hook(calls.append)
for _ in range(3):
    (w * 2).backward()
handle.remove()
(w * 2).backward()
lesson.compare(guess_calls, len(calls))

# %% [markdown] lang="en"
# A hook on a leaf fires until it is removed. (One on an intermediate result ends with that result, as nothing walks
# through it again.) Adding a hook in every iteration of a loop is therefore a classic leak: after a thousand steps a
# thousand hooks fire.
#
# Modules have hooks too: `register_forward_hook` sees inputs and outputs, `register_full_backward_hook` the
# gradients of
# both. This one writes down how large the gradient is that leaves each layer:

# %% [markdown] lang="zh"
# 挂在叶子上的钩子会一直触发，直到被移除。（挂在中间结果上的，会随那个结果一起结束，因为不会再有谁经过它。）
# 所以，在循环里每次都添加钩子是一种典型的泄漏：一千步之后，会有一千个钩子同时触发。
#
# 模块也有钩子：`register_forward_hook` 能看到输入和输出，`register_full_backward_hook` 能看到两者的梯度。
# 下面用它记下流出每一层的梯度有多大：

# %%
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 1))
norms = {}


def note(name):
    def hook(module, grad_input, grad_output):
        norms[name] = round(grad_output[0].norm().item(), 4)

    return hook


handles = [layer.register_full_backward_hook(note(name)) for name, layer in model.named_children()]
model(torch.randn(8, 4, requires_grad=True)).mean().backward()
for handle in handles:
    handle.remove()
print(norms)

# %% [markdown] lang="en"
# ## Before, after, and when the sum is complete
#
# Nodes have hooks as well, and a leaf has one that fires when its gradient has been **added**:
# `register_post_accumulate_grad_hook`. It gets the leaf, not a gradient. Here it takes the step at once, so that
# no gradient has to be kept. Predict `w` and `w.grad` after `(w * 3).backward()` with `w = 2` and a rate of 0.1. And
# in which order do these four fire: `"before"` and `"after"` the node of `y`, on the `"tensor"` `w`, on the `"leaf"`?

# %% [markdown] lang="zh"
# ## 之前、之后，以及加完之时
#
# 节点也有钩子；叶子还有一种钩子，在梯度**累加完成**时触发：`register_post_accumulate_grad_hook`。它得到的是叶子，而不是梯度。
# 下面用它立刻更新参数，这样就不必保存梯度。设 `w = 2`、学习率 0.1，请预测 `(w * 3).backward()` 之后的 `w` 和 `w.grad`。
# 再预测这四个钩子的触发顺序：`y` 的节点之前 `"before"`、之后 `"after"`，张量 `w` 上 `"tensor"`，叶子上 `"leaf"`。

# %%
guess_w = ...
guess_w_grad = ...
guess_order = [..., ..., ..., ...]


# %%
def learn(leaf):
    with torch.no_grad():
        leaf -= 0.1 * leaf.grad
    leaf.grad = None


w = torch.tensor(2.0, requires_grad=True)
w.register_post_accumulate_grad_hook(learn)
(w * 3).backward()
lesson.compare(guess_w, w.item())
lesson.compare(guess_w_grad, w.grad)

order = []
w = torch.tensor(2.0, requires_grad=True)
w.register_post_accumulate_grad_hook(lambda leaf: order.append("leaf"))
w.register_hook(lambda grad: order.append("tensor"))
y = w * 3
y.grad_fn.register_prehook(lambda grads: order.append("before"))
y.grad_fn.register_hook(lambda inputs, outputs: order.append("after"))
y.backward()
lesson.compare(guess_order, order)
gradviz.HookBench(w=w, y=y)

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `gradients(function, x)`: call `function(x)`, which returns a pair `(hidden, result)` of tensors, run
# the backward from
# `result`, and return the gradient of `hidden`, without leaving a hook behind.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `gradients(function, x)`：调用 `function(x)`，它返回一对张量 `(hidden, result)`；从 `result` 开始反向传播，
# 返回 `hidden` 的梯度，并且不留下钩子。


# %% exercise=1
def gradients(function, x):
    return ...


# %%
@lesson.check(1)
def check_gradients(want):
    made = {}

    def function(x):
        hidden = made["hidden"] = torch.tanh(x)
        return hidden, (hidden * hidden).sum()

    x = torch.tensor([0.5, -1.0], requires_grad=True)
    found = gradients(function, x)
    want.value(found, (2 * torch.tanh(x)).tolist())
    want.grad(x, (2 * torch.tanh(x) * (1 - torch.tanh(x) ** 2)).tolist())
    want.that(not made["hidden"]._backward_hooks)


# %% solution=1
def gradients(function, x):
    hidden, result = function(x)
    hidden.retain_grad()
    result.backward()
    return hidden.grad


# %% wrong=1
def gradients(function, x):
    hidden, result = function(x)
    result.backward()
    hidden.retain_grad()
    return hidden.grad


# %% wrong=1
def gradients(function, x):
    hidden, result = function(x)
    return torch.autograd.grad(result, hidden)[0]


# %% wrong=1
def gradients(function, x):
    seen = []
    hidden, result = function(x)
    hidden.register_hook(seen.append)
    result.backward()
    return seen[0]


# %% [markdown] lang="en"
# ## Exercise 2
#
# A *gradient reversal* is used to make features that a second network cannot tell apart: forward it does
# nothing, backward
# it turns the sign. Write `reverse(h)` with a hook. The tensor that was given must not be changed: others may
# use it too.

# %% [markdown] lang="zh"
# ## 练习 2
#
# **梯度反转**常用来让特征无法被另一个网络区分：前向时什么也不做，反向时改变梯度的符号。请用钩子写出 `reverse(h)`。
# 传进来的张量本身不能受影响：别处可能也在用它。


# %% exercise=2
def reverse(h):
    return ...


# %%
@lesson.check(2)
def check_reverse(want):
    w = torch.tensor(3.0, requires_grad=True)
    h = w * 2
    turned = reverse(h)
    want.value(turned, 6.0)
    want.flows(w, turned)
    (turned * 5).backward(retain_graph=True)
    want.grad(w, -10.0)
    w.grad = None
    (h * 5).backward()
    want.grad(w, 10.0)


# %% solution=2
def reverse(h):
    turned = h.view_as(h)
    turned.register_hook(lambda grad: -grad)
    return turned


# %% wrong=2
def reverse(h):
    h.register_hook(lambda grad: -grad)
    return h


# %% wrong=2
def reverse(h):
    return -h


# %% wrong=2
def reverse(h):
    turned = h.detach().requires_grad_()
    turned.register_hook(lambda grad: -grad)
    return turned


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# `fit` clips the gradient of `w` with a hook. The further the training goes, the slower it gets, and what the
# hook does
# is done again and again. Repair it: at any time there must be one hook at most, and none at the end.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# `fit` 用钩子截断 `w` 的梯度。训练越久就越慢，而且同样的处理被重复了一遍又一遍。请修复它：任何时刻最多只能有一个钩
# 子，结束时一个也不留。


# %% exercise=3
def fit(w, on_clip, steps):
    def clip(grad):
        on_clip()
        return grad.clamp(-1.0, 1.0)

    for _ in range(steps):
        w.register_hook(clip)
        (w**2).backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None


# %%
@lesson.check(3)
def check_fit(want):
    w = torch.tensor(4.0, requires_grad=True)
    clipped = []
    fit(w, lambda: clipped.append(1), 10)
    want.value(len(clipped), 10)
    want.value(w, 3.0)
    before = len(clipped)
    (w**2).backward()
    want.value(len(clipped) - before, 0)


# %% solution=3
def fit(w, on_clip, steps):
    def clip(grad):
        on_clip()
        return grad.clamp(-1.0, 1.0)

    handle = w.register_hook(clip)
    for _ in range(steps):
        (w**2).backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None
    handle.remove()


# %% wrong=3
def fit(w, on_clip, steps):
    def clip(grad):
        on_clip()
        return grad.clamp(-1.0, 1.0)

    w.register_hook(clip)
    for _ in range(steps):
        (w**2).backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None


# %% wrong=3
def fit(w, on_clip, steps):
    for _ in range(steps):
        (w**2).backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        w.grad = None


# %% [markdown] lang="en"
# ## What stays
#
# - `retain_grad()` before the backward keeps the gradient of an intermediate result.
# - A hook sees the gradient when it passes; what it returns takes its place. Several run in the order they
#   were added.
# - A hook on a leaf stays until `remove()`. Add it once.

# %% [markdown] lang="zh"
# ## 小结
#
# - 在反向传播之前调用 `retain_grad()`，可以保留中间结果的梯度。
# - 钩子在梯度经过时看到它，返回值会取而代之。多个钩子按添加的顺序运行。
# - 叶子上的钩子会一直留着，直到 `remove()`。只添加一次。

# %%
lesson
