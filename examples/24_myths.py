# %% [markdown] lang="en"
# # Myth or fact: what tutorials say
#
# **Question.** Tutorials are full of sentences about autograd. Which of them hold when they are run?

# %% [markdown] lang="zh"
# # 传说还是事实：教程里的话
#
# **问题**：教程里有许多关于自动微分的句子。真正运行一遍，哪些站得住？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("24", exercises=3)


# %%
def told(function, *values):
    try:
        function(*values)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:90]}"
    return ""


def judge(guesses, facts):
    answers = list(facts.values())
    lesson.compare(guesses, answers)
    for sentence, held in facts.items():
        print(f"{held!s:5}  {sentence}")


# %% [markdown] lang="en"
# Below, each group has some sentences. Write `True` or `False` for each before you run the cell under it: that cell does
# not believe anybody, it runs them.
#
# ## Leaves and flags
#
# 1. What is tracked and was not made by hand has a `grad_fn`.
# 2. The result of an operation is never a leaf.
# 3. Only parameters and tensors that were marked are tracked.
# 4. One tracked input is enough: the result is tracked.
# 5. `requires_grad_()` on an intermediate may destroy the graph.
# 6. No gradient reaches a layer that lies below a frozen one.
# 7. Reading `.grad` of an intermediate is allowed; it warns.

# %% [markdown] lang="zh"
# 下面每一组都有几句话。运行它下方的单元之前，请先为每一句写下 `True` 或 `False`：那个单元谁也不信，只管运行。
#
# ## 叶子与开关
#
# 1. 被跟踪、又不是手工创建的张量，都有 `grad_fn`。
# 2. 运算的结果绝不会是叶子。
# 3. 只有参数和标记过的张量才被跟踪。
# 4. 只要有一个输入被跟踪，结果就被跟踪。
# 5. 对中间结果调用 `requires_grad_()` 可能毁掉计算图。
# 6. 冻结层下面的层得不到梯度。
# 7. 读取中间结果的 `.grad` 是允许的，只会有一条警告。

# %%
guess_flags = [..., ..., ..., ..., ..., ..., ...]

# %%
w = torch.tensor([1.0, -2.0], requires_grad=True)
h = w * 3
edges = h.grad_fn.next_functions
h.requires_grad_()
kept = h.grad_fn.next_functions == edges

below, frozen = nn.Linear(2, 2), nn.Linear(2, 1)
frozen.requires_grad_(False)
frozen(below(torch.ones(1, 2))).sum().backward()

judge(
    guess_flags,
    {
        "1 grad_fn": (w * 2).detach().requires_grad_().grad_fn is not None,
        "2 never a leaf": not (torch.ones(2) + 1).is_leaf,
        "3 only marked": not h.requires_grad,
        "4 one is enough": all(x.requires_grad for x in (h, w > 0, w.argmax())),
        "5 destroys": not kept,
        "6 not below": below.weight.grad is None and frozen.weight.grad is None,
        "7 only warns": told(lambda: h.grad) == "",
    },
)
print(told(h.requires_grad_, False))
print(h.grad_fn, (w**2).grad_fn.name(), h.relu().grad_fn.name())

# %% [markdown] lang="en"
# A frozen layer stores nothing, and lets everything through. Untracked results are leaves, too: nothing is above them.
# And the class names end in a number: `MulBackward0`.
#
# ## Graph and backward
#
# 1. `backward()` without an argument wants a tensor of shape `()`.
# 2. Two `backward()` on `y = x * 2` give 2, then 4.
# 3. A second `backward()` always raises.
# 4. A node of a product keeps the other factor; a node of a sum keeps nothing.
# 5. In `w * c`, where only `w` is tracked, both factors have an edge.
# 6. One backward may start from several roots.
# 7. With `b = 2 * a` and `c = b * b`, the derivative of `c` is $4a$.
# 8. `retain_graph=True` is what a second derivative needs.
# 9. Whether the graph was freed can be seen by `loss.grad_fn`.
# 10. With `retain_graph=True`, after `optimizer.step()` a second backward goes through.

# %% [markdown] lang="zh"
# 冻结层自己什么也不存，但让一切通过。不被跟踪的结果也是叶子：它上面什么也没有。另外，类名以数字结尾：`MulBackward0`。
#
# ## 计算图与反向传播
#
# 1. 不带参数的 `backward()` 要求张量的形状是 `()`。
# 2. 对 `y = x * 2` 调用两次 `backward()`，先得 2，再得 4。
# 3. 第二次 `backward()` 总会报错。
# 4. 乘积的节点保存另一个因子，求和的节点什么也不保存。
# 5. `w * c` 中只有 `w` 被跟踪，但两个因子都有边。
# 6. 一次反向传播可以从几个根出发。
# 7. 设 `b = 2 * a`、`c = b * b`，则 `c` 的导数是 $4a$。
# 8. 求二阶导数需要的是 `retain_graph=True`。
# 9. 计算图是否已被释放，看 `loss.grad_fn` 就知道。
# 10. 用了 `retain_graph=True`，在 `optimizer.step()` 之后还能再反向一次。

# %%
guess_graph = [..., ..., ..., ..., ..., ..., ..., ..., ..., ...]

# %%
packed = []
with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
    total = w + w.detach()
    of_a_sum = len(packed)
    loss = (w * w.detach()).sum()
of_a_product = len(packed) - of_a_sum

x = torch.tensor(1.0, requires_grad=True)
y = x * 2
y.backward()
twice = told(y.backward)

s = w.sum()
s.backward()
again = told(s.backward)

a = torch.tensor(3.0, requires_grad=True)
b = 2 * a
c = b * b
c.backward(retain_graph=True)
of_c, two_roots = a.grad.item(), told(lambda: torch.autograd.backward([a * 1, c]))
first = torch.autograd.grad(a**3, a, retain_graph=True)[0]
second = told(first.backward)

before = loss.grad_fn
loss.backward()
model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
out = model(torch.ones(1, 2)).sum()
out.backward(retain_graph=True)
torch.optim.SGD(model.parameters(), lr=0.1).step()
stepped = told(out.backward)

judge(
    guess_graph,
    {
        "1 shape ()": told((torch.ones(1, 1, requires_grad=True) * 2).backward) != "",
        "2 gives 2 and 4": twice == "" and x.grad.item() == 4,
        "3 always raises": again != "",
        "4 other factor": (of_a_sum, of_a_product) == (0, 1),
        "5 two edges": all(node for node, _ in (w * w.detach()).grad_fn.next_functions),
        "6 several roots": two_roots == "",
        "7 is 4a": of_c == 4 * 3,
        "8 retain_graph": second == "",
        "9 by grad_fn": loss.grad_fn is not before,
        "10 goes through": stepped == "",
    },
)
print(f"2   {twice}; grad {x.grad.item()}\n8   {second}\n10  {stepped}")
print("saved by a sum and by a product:", of_a_sum, of_a_product)
print("derivative of c:", of_c, "| edges:", (w * w.detach()).grad_fn.next_functions)
gradviz.show(loss)

# %% [markdown] lang="en"
# An edge is a node and a number; values are kept by nodes, and only what the derivative needs. `x * 2` shows no tensor to
# a pack hook and still raises when it is run twice: it keeps the number. After a backward the nodes stay, their saved
# tensors go (the empty chips in the picture); `create_graph=True` is what a second derivative needs.
#
# ## Cutting
#
# 1. What came out of `detach()` or `no_grad` can never be tracked again.
# 2. An inference tensor cannot take part in a tracked operation.
# 3. An inference tensor refuses `requires_grad_()`, outside.
# 4. A tensor made under `no_grad` gets no gradient.
# 5. An evaluation without `no_grad` needs more memory at each batch.
# 6. A `state_dict` should be taken under `no_grad`.
# 7. `item()` in the middle of a model raises an error.
# 8. `backward()` on the result of `item()` says that there is no `grad_fn`.

# %% [markdown] lang="zh"
# 一条边是一个节点加一个序号；数值由节点保存，而且只保存导数需要的部分。`x * 2` 不向打包钩子交出任何张量，第二次反向却仍然报错：
# 它保存的是那个数。反向之后节点还在，保存的张量没有了（图中变空的小格）；求二阶导数需要的是 `create_graph=True`。
#
# ## 切断
#
# 1. 从 `detach()` 或 `no_grad` 里出来的张量，再也不能被跟踪。
# 2. 推理张量不能参与被跟踪的运算。
# 3. 在外面，推理张量拒绝 `requires_grad_()`。
# 4. 在 `no_grad` 里创建的张量得不到梯度。
# 5. 评估时不用 `no_grad`，每一批都会多占内存。
# 6. 取 `state_dict` 应当在 `no_grad` 里进行。
# 7. 在模型中间用 `item()` 会报错。
# 8. 对 `item()` 的结果调用 `backward()`，会说没有 `grad_fn`。

# %%
guess_cuts = [..., ..., ..., ..., ..., ..., ..., ...]

# %%
import weakref

with torch.no_grad():
    made, leaf = w * 2, torch.ones(2, requires_grad=True)
with torch.inference_mode():
    seen = torch.ones(2)
(leaf * 2).sum().backward()

alive = []
for _ in range(3):
    out = model(torch.ones(1, 2))
    alive.append(weakref.ref(out))
    del out
climbs = sum(ref() is not None for ref in alive)

v = torch.tensor(2.0, requires_grad=True)
middle = told(lambda: (v * v.item()).backward())
number = told(lambda: (v * v).item().backward())

judge(
    guess_cuts,
    {
        "1 never again": told(made.requires_grad_) != "" or not made.requires_grad,
        "2 no part": told(lambda: (w + seen).sum().backward()) != "",
        "3 refuses": told(seen.requires_grad_) != "",
        "4 no gradient": leaf.grad is None,
        "5 climbs": climbs > 0,
        "6 under no_grad": any(t.requires_grad for t in model.state_dict().values()),
        "7 raises": middle != "",
        "8 no grad_fn": "grad_fn" in number,
    },
)
print(told(lambda: w * seen))
print(told(seen.requires_grad_))
print(number)
print("derivative of v * v, and of v * v.item():", 2 * v.item(), v.grad.item())

# %% [markdown] lang="en"
# `item()` in the middle is the worst of all: no error, half of the gradient. And what climbs in an evaluation is what you
# **keep**, not what you compute.
#
# ## In place, and steps
#
# 1. `loss += term` is an in-place error.
# 2. `w -= lr * w.grad`, without `no_grad`, is recorded into the next graph.
# 3. `w = w - lr * w.grad` is a good repair of it.
# 4. A hook lapses by itself after a backward.
# 5. `zero_grad()` sets gradients to zero.
# 6. A path that was cut gives `None`; a path with derivative 0 gives zeros.
# 7. `nn.Module.zero_grad()` reaches the tensors that went in.

# %% [markdown] lang="zh"
# 中间的 `item()` 最糟：没有错误，却少了一半梯度。评估时让内存上涨的，是你**留下**的东西，而不是算过的东西。
#
# ## 原地运算与更新
#
# 1. `loss += term` 是原地运算错误。
# 2. 不用 `no_grad` 的 `w -= lr * w.grad` 会被记录进下一张图。
# 3. 把它改成 `w = w - lr * w.grad` 就好了。
# 4. 钩子在一次反向之后自己失效。
# 5. `zero_grad()` 把梯度设为零。
# 6. 被切断的路径给出 `None`，导数为 0 的路径给出零。
# 7. `nn.Module.zero_grad()` 也会清除输入张量的梯度。

# %%
guess_steps = [..., ..., ..., ..., ..., ..., ...]

# %%
loss = w.sum()
loss += (w * w).sum()
w.grad = None
added = told(loss.backward)


def subtract(p):
    p -= 0.1 * p.grad


refused = told(subtract, w)
rebound = w - 0.1 * w.grad
(rebound * rebound).sum().backward()

calls = []
w.register_hook(lambda g: calls.append(1))
for _ in range(2):
    w.sum().backward()

model(torch.ones(1, 2)).sum().backward()
model.zero_grad()
flat, cut = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
(flat.clamp(2.0, 3.0).sum() + cut.detach().sum()).backward()
given = torch.ones(1, 2, requires_grad=True)
model(given).sum().backward()
model.zero_grad()

judge(
    guess_steps,
    {
        "1 an error": added != "",
        "2 recorded": refused == "",
        "3 a repair": rebound.is_leaf,
        "4 lapses": len(calls) < 2,
        "5 to zero": model[0].weight.grad is not None,
        "6 None or zeros": cut.grad is None and flat.grad is not None,
        "7 inputs too": given.grad is None,
    },
)
print(refused)
print("flat:", flat.grad, "cut:", cut.grad, "calls of the hook:", len(calls))

# %% [markdown] lang="en"
# Zeros are not `None`: the path is there. After `w = w - …`, `w` is an intermediate: its `.grad` stays `None` and an
# optimizer goes on moving the old tensor.
#
# ## Numbers and checks
#
# 1. A number too small for float16 becomes 0, one too large becomes `inf`.
# 2. Clipping mends gradients with `nan`.
# 3. `gradcheck` returns `False` for a wrong gradient.
# 4. Central differences with `eps=1e-6` verify a gradient in float32.
# 5. The mean of the batches' means is the average loss.
# 6. Any intermediate can be printed with `item()`.
# 7. A gradient made with `create_graph=True` prints like any other.

# %% [markdown] lang="zh"
# 零不是 `None`：那条路径还在。`w = w - …` 之后，`w` 成了中间结果：它的 `.grad` 一直是 `None`，而优化器继续移动旧的张量。
#
# ## 数值与检验
#
# 1. 小到 float16 放不下的数变成 0，太大的变成 `inf`。
# 2. 裁剪能治好含有 `nan` 的梯度。
# 3. 梯度写错时，`gradcheck` 返回 `False`。
# 4. 在 float32 中用 `eps=1e-6` 的中心差分可以验证梯度。
# 5. 各批平均值的平均就是平均损失。
# 6. 任何中间结果都可以用 `item()` 打印。
# 7. 用 `create_graph=True` 得到的梯度，打印出来和别的一样。

# %%
guess_numbers = [..., ..., ..., ..., ..., ..., ...]


# %%
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x


class Forgetful(Square):
    @staticmethod
    def forward(ctx, x):
        return x * x


def differences(f, x, eps):
    out = torch.zeros_like(x)
    for i in range(x.numel()):
        up, down = x.clone(), x.clone()
        up.view(-1)[i] += eps
        down.view(-1)[i] -= eps
        out.view(-1)[i] = (f(up) - f(down)) / (2 * eps)
    return out


def squares(x):
    return (x * x).sum()


small = torch.tensor(1e-4, dtype=torch.float16) * 1e-4
large = torch.tensor(1e4, dtype=torch.float16) * 1e4
bad = torch.tensor([1.0, 2.0], requires_grad=True)
bad.grad = torch.tensor([float("nan"), 1.0])
nn.utils.clip_grad_norm_([bad], 1.0)
double = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
checked = told(torch.autograd.gradcheck, Square.apply, double)
single = differences(squares, torch.tensor([1.0, 2.0, 3.0]), 1e-6)
errors = torch.tensor([1.0, 9.0, 4.0, 36.0, 25.0])
batches = errors.split(2)
of_means = torch.stack([batch.mean() for batch in batches]).mean()
cube = torch.tensor(3.0, requires_grad=True)
slope = torch.autograd.grad(cube**3, cube, create_graph=True)[0]

judge(
    guess_numbers,
    {
        "1 0 or inf": small.item() == 0 and large.item() == float("inf"),
        "2 mends": not bad.grad.isnan().any().item(),
        "3 False": checked == "",
        "4 verifies": torch.allclose(single, torch.tensor([2.0, 4.0, 6.0]), atol=1e-3),
        "5 the average": torch.allclose(of_means, errors.mean()),
        "6 item()": told((torch.ones(3) * 2).item) == "",
        "7 like any other": "grad_fn" not in repr(slope),
    },
)
print("1   ", small, large)
print("2   ", told(lambda: nn.utils.clip_grad_norm_([bad], 1.0, error_if_nonfinite=True)))
print("3   ", checked)
print("3   ", told(torch.autograd.gradcheck, Forgetful.apply, double))
print("4   ", single, differences(squares, torch.tensor([100.0, 300.0]), 1e-6))
print("4   ", differences(squares, double.detach(), 1e-6))
print("4   ", differences(squares, torch.ones(2, requires_grad=True), 1e-3).grad_fn)
print("4   ", told(differences, squares, torch.ones(2, 3).t(), 1e-3))
print("5   ", of_means.item(), errors.mean().item())
print("6   ", told((torch.ones(3) * 2).item))
print("7   ", slope, cube)

# %% [markdown] lang="en"
# Finite differences want float64: in float32 a step of 1e-6 drowns in rounding. A tracked input is recorded while it is
# measured, and `view` refuses one with strides.
#
# ## Exercise 1
#
# Write `freed(loss)`: whether the saved tensors of the graph of `loss` are gone. A node tells it when you read one of its
# `_saved_…`; here the last node of the graph is always an `exp`, which saves its result (`_saved_result`).

# %% [markdown] lang="zh"
# 有限差分要用 float64：在 float32 中，1e-6 的步长会淹没在舍入误差里。被跟踪的输入会在测量时被记录下来，而带步长的输入会被 `view` 拒绝。
#
# ## 练习 1
#
# 写出 `freed(loss)`：`loss` 的计算图中保存的张量是否已经没有了。读取节点的 `_saved_…` 时，节点会告诉你；
# 这里图的最后一个节点总是 `exp`，它保存自己的结果（`_saved_result`）。


# %% exercise=1
def freed(loss):
    return ...


# %%
@lesson.check(1)
def check_freed(want):
    p = torch.tensor(1.0, requires_grad=True)
    kept, gone = p.exp(), p.exp()
    kept.backward(retain_graph=True)
    gone.backward()
    found = [freed(kept), freed(kept), freed(gone)]
    want.done(found[0])
    want.value(found, [False, False, True])


# %% solution=1
def freed(loss):
    try:
        return loss.grad_fn._saved_result is None
    except RuntimeError:
        return True


# %% wrong=1
def freed(loss):
    return loss.grad_fn is None


# %% wrong=1
def freed(loss):
    try:
        loss.backward()
    except RuntimeError:
        return True
    return False


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `slopes(f, x)`: central differences that can be trusted, for **any** `x`: in float32, tracked, or with strides. The
# result is untracked, in float64, and has the shape of `x`; `f` takes float64 as well.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `slopes(f, x)`：对**任何** `x` 都可信的中心差分：float32 的、被跟踪的、带步长的。结果不被跟踪，是 float64，与 `x` 同形状；
# `f` 也接受 float64。


# %% exercise=2
def slopes(f, x):
    return ...


# %%
@lesson.check(2)
def check_slopes(want):
    x = torch.tensor([[1.0, 100.0, 3.0], [2.0, 300.0, 4.0]]).t().requires_grad_()
    found = slopes(squares, x)
    want.done(found)
    want.value(found, (2 * x).tolist(), within=1e-3)
    want.untracked(found)
    want.that(x.grad is None and x.tolist()[1] == [100.0, 300.0])


# %% solution=2
def slopes(f, x):
    flat = x.detach().double().flatten()
    found = []
    for i in range(len(flat)):
        step = torch.zeros_like(flat)
        step[i] = 1e-6
        up, down = (flat + step).reshape(x.shape), (flat - step).reshape(x.shape)
        found.append((f(up) - f(down)) / 2e-6)
    return torch.stack(found).reshape(x.shape)


# %% wrong=2
def slopes(f, x):
    return differences(f, x.detach().contiguous(), 1e-6)


# %% wrong=2
def slopes(f, x):
    return differences(f, x.double().contiguous(), 1e-6)


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# `descend` takes three steps and gives the parameter back. It raises no error at first sight: repair it, so that the
# parameter is the **same** tensor all the time, still a leaf, with an empty `.grad` at the end.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# `descend` 走三步，然后交回参数。初看没有报错：请修复它，使参数自始至终是**同一个**张量，仍是叶子，最后 `.grad` 为空。


# %% exercise=3
def descend(p, rate):
    for _ in range(3):
        (p * p).sum().backward()
        if p.grad is not None:
            p = p - rate * p.grad
    return p


# %%
import warnings


@lesson.check(3)
def check_descend(want):
    p = torch.tensor([1.0, -2.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moved = descend(p, 0.1)
    want.that(moved is p)
    want.leaf(moved)
    want.value(moved, [0.512, -1.024])
    want.that(moved.grad is None)


# %% solution=3
def descend(p, rate):
    for _ in range(3):
        (p * p).sum().backward()
        with torch.no_grad():
            p -= rate * p.grad
        p.grad = None
    return p


# %% wrong=3
def descend(p, rate):
    for _ in range(3):
        (p * p).sum().backward()
        with torch.no_grad():
            p -= rate * p.grad
    p.grad = None
    return p


# %% wrong=3
def descend(p, rate):
    for _ in range(3):
        (p * p).sum().backward()
        p = (p - rate * p.grad).detach().requires_grad_()
    return p


# %% [markdown] lang="en"
# ## What stays
#
# - A sentence about autograd can be tested in three lines. Do it before you believe it, this one included.
# - `None` means no path, zeros mean a path with derivative 0; errors tell of the first that went wrong, silence tells nothing.
# - What raises is easy. `item()` in the middle, a mean of means and float32 differences are wrong without a word.

# %% [markdown] lang="zh"
# ## 小结
#
# - 关于自动微分的一句话，三行代码就能检验。相信之前先试一试，这句话也不例外。
# - `None` 表示没有路径，零表示有路径但导数为 0；错误指出最先出问题的地方，沉默什么也不说明。
# - 会报错的反而容易。中间的 `item()`、平均值的平均、float32 的差分，错了也一声不响。

# %%
lesson
