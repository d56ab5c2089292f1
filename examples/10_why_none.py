# %% [markdown] lang="en"
# # Clinic: why is .grad None?
#
# **Question.** You look at a gradient and find `None`. Six different causes look exactly alike. Which one is yours?

# %% [markdown] lang="zh"
# # 门诊：为什么 .grad 是 None？
#
# **问题**：你去看梯度，却只看到 `None`。六种不同的病因，症状一模一样。你遇到的是哪一种？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("10", exercises=3)

# %% [markdown] lang="en"
# ## Six patients
#
# Read the six programs. In each, the tensor named `p1` … `p6` ends with `.grad is None`.

# %% [markdown] lang="zh"
# ## 六位病人
#
# 请阅读下面六个程序。每个程序结束时，名为 `p1` … `p6` 的张量的 `.grad` 都是 `None`。

# %%
p1 = torch.tensor(2.0)
w = torch.tensor(3.0, requires_grad=True)
(p1 * w).backward()

# %%
w = torch.tensor(3.0, requires_grad=True)
p2 = w * 2
(p2**2).backward()

# %%
p3 = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
scale = (p3 * 10).item()
(scale * w).backward()

# %%
p4 = torch.tensor(2.0, requires_grad=True)
result = p4**2

# %%
p5 = nn.Parameter(torch.tensor(2.0))
optimizer = torch.optim.SGD([p5], lr=0.1)
(p5**2).backward()
optimizer.step()
optimizer.zero_grad()

# %%
p6 = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
use_p6 = False
(w * p6 if use_p6 else w * 2).backward()

# %% [markdown] lang="en"
# Give each patient a cause. Write the letter:
#
# | letter | cause |
# |---|---|
# | `"a"` | it does not require grad |
# | `"b"` | it is an intermediate result |
# | `"c"` | the path from it was cut |
# | `"d"` | no backward has run through it yet |
# | `"e"` | the gradient was there and has been cleared |
# | `"f"` | the result was not computed from it |

# %% [markdown] lang="zh"
# 请为每位病人诊断病因，填字母：
#
# | 字母 | 病因 |
# |---|---|
# | `"a"` | 它不需要梯度 |
# | `"b"` | 它是中间结果 |
# | `"c"` | 从它出发的路径被切断了 |
# | `"d"` | 还没有反向传播经过它 |
# | `"e"` | 梯度曾经有过，后来被清空了 |
# | `"f"` | 结果根本不是由它算出的 |

# %%
guess_p1 = ...
guess_p2 = ...
guess_p3 = ...
guess_p4 = ...
guess_p5 = ...
guess_p6 = ...

# %% [markdown] lang="en"
# `gradviz.explain` knows what happened in the notebook, and names the line. It gives the reason as a word
# too, which is
# compared with yours here.

# %% [markdown] lang="zh"
# `gradviz.explain` 知道笔记本里发生过什么，并能指出是哪一行。它还会用一个词给出原因，这里拿它与你的诊断比较。

# %%
LETTERS = {"untracked": "a", "nonleaf": "b", "severed": "c", "cut": "c"}
LETTERS |= {"pending": "d", "no_backward": "d", "cleared": "e", "unused": "f"}


def cause(patient, name):
    reason = gradviz.explain(patient, name).reason
    return LETTERS.get(reason, reason)


lesson.compare(guess_p1, cause(p1, "p1"))
lesson.compare(guess_p2, cause(p2, "p2"))
lesson.compare(guess_p3, cause(p3, "p3"))
lesson.compare(guess_p4, cause(p4, "p4"))
lesson.compare(guess_p5, cause(p5, "p5"))
lesson.compare(guess_p6, cause(p6, "p6"))

# %% [markdown] lang="en"
# The third is the nastiest: there is no error. `w` gets a gradient, training runs, and the part of the model
# before `item()`
# never learns. Ask for the full report:

# %% [markdown] lang="zh"
# 第三位病得最隐蔽：没有任何报错。`w` 有梯度，训练照常进行，而 `item()` 之前的那部分模型永远学不到东西。来看完整报告：

# %%
gradviz.explain(p3)

# %% [markdown] lang="en"
# ## None or zero?
#
# A table in one tutorial explains *zero* gradients by "the path is cut". Measure it: predict `0` or `None` for `cut`,
# `dead` (a relu that does not fire) and `masked` (a branch that `torch.where` computes but does not choose).

# %% [markdown] lang="zh"
# ## 是 None 还是零？
#
# 某教程的表格用“路径被切断”来解释梯度为**零**。我们来测一测：`cut`（被切断）、`dead`（没有激活
# 的 relu）、`masked`（`torch.where`
# 计算了却没有选中的分支），各自填 `0` 或 `None`。

# %%
guess_cut = ...
guess_dead = ...
guess_masked = ...

# %%
cut, dead, masked = (torch.tensor(-1.0, requires_grad=True) for _ in range(3))
anchor = torch.tensor(1.0, requires_grad=True)
chosen = torch.where(anchor > 0, anchor * 3, masked * 3)
total = anchor * cut.detach() + torch.relu(dead) + chosen
total.backward()
gradviz.show(total)

# %%
lesson.compare(guess_cut, cut.grad)
lesson.compare(guess_dead, dead.grad)
lesson.compare(guess_masked, masked.grad)

# %% [markdown] lang="en"
# `None` means: not connected. Zero means: connected, and the derivative is 0 here. They call for different
# remedies. An
# `if` in Python leaves the other branch out of the graph (`None`, and the optimizer skips it); `torch.where`
# computes both
# and sends zero into the one not chosen.

# %% [markdown] lang="zh"
# `None` 表示没有连通；零表示连通了，只是这里的导数为 0。两者的治法不同。Python 的 `if` 会把另一个分支排除在图之外（`None`，
# 优化器会跳过它）；`torch.where` 两个分支都算，并把零传给没选中的那个。

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `outlook(x, result)`, **before** any backward: `"grad"` if `result.backward()` will fill `x.grad`,
# `"passes"` if a
# gradient will pass through `x` without being kept, `"none"` if none will come. `x.grad` must not be touched.
#
# <details><summary>Hint</summary>
#
# `torch.autograd.grad(result, x, allow_unused=True, retain_graph=True)` gives `(None,)` when the two are not
# connected. It
# raises when `x` does not require grad.
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `outlook(x, result)`，在任何反向传播**之前**判断：如果 `result.backward()` 会写入 `x.grad`，返回 `"grad"`；
# 如果梯度会经过 `x` 但不保留，返回 `"passes"`；如果没有梯度会来，返回 `"none"`。不能改动 `x.grad`。
#
# <details><summary>提示</summary>
#
# 当两者不连通时，`torch.autograd.grad(result, x, allow_unused=True, retain_graph=True)` 返回 `(None,)`；
# 当 `x` 不需要梯度时，它会报错。
#
# </details>


# %% exercise=1
def outlook(x, result):
    return ...


# %%
@lesson.check(1)
def check_outlook(want):
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    plain = torch.tensor(4.0)
    h = a * plain
    loss = h**2 + b.detach()
    want.value(outlook(a, loss), "grad")
    want.value(outlook(h, loss), "passes")
    want.value(outlook(b, loss), "none")
    want.value(outlook(plain, loss), "none")
    h.retain_grad()
    want.value(outlook(h, loss), "grad")
    want.grad(a, None)
    loss.backward()
    want.grad(a, 64.0)


# %% solution=1
def outlook(x, result):
    if not x.requires_grad:
        return "none"
    (found,) = torch.autograd.grad(result, x, allow_unused=True, retain_graph=True)
    if found is None:
        return "none"
    return "grad" if x.is_leaf or x.retains_grad else "passes"


# %% wrong=1
def outlook(x, result):
    if not x.requires_grad:
        return "none"
    return "grad" if x.is_leaf else "passes"


# %% wrong=1
def outlook(x, result):
    result.backward(retain_graph=True)
    return "none" if x.grad is None else "grad"


# %% wrong=1
def outlook(x, result):
    if not x.requires_grad:
        return "none"
    (found,) = torch.autograd.grad(result, x, allow_unused=True, retain_graph=True)
    return "none" if found is None else "grad" if x.is_leaf else "passes"


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `report(model)`: a dict from the name of each parameter to `"none"`, `"zero"` or `"flows"`, after a backward.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `report(model)`：反向传播之后，返回一个字典，从每个参数的名称映射到 `"none"`、`"zero"` 或 `"flows"`。


# %% exercise=2
def report(model):
    return ...


# %%
@lesson.check(2)
def check_report(want):
    model = nn.ModuleDict(
        {"used": nn.Linear(2, 2), "idle": nn.Linear(2, 2), "dead": nn.Linear(2, 2)}
    )
    nn.init.constant_(model["dead"].bias, -100.0)
    x = torch.ones(1, 2)
    (model["used"](x).sum() + torch.relu(model["dead"](x)).sum()).backward()
    found = report(model)
    want.value(found["used.weight"], "flows")
    want.value(found["idle.bias"], "none")
    want.value(found["dead.weight"], "zero")
    want.value(len(found), 6)


# %% solution=2
def report(model):
    found = {}
    for name, parameter in model.named_parameters():
        if parameter.grad is None:
            found[name] = "none"
        else:
            found[name] = "flows" if parameter.grad.abs().sum() > 0 else "zero"
    return found


# %% wrong=2
def report(model):
    return {name: "flows" if p.grad is not None else "none" for name, p in model.named_parameters()}


# %% wrong=2
def report(model):
    return {
        name: "zero" if p.grad is None or p.grad.sum() == 0 else "flows"
        for name, p in model.named_parameters()
    }


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# This network hides two of the six causes. After a backward **every** parameter of its three layers should
# have a gradient, and
# `parameters()` should list all six. Repair it.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# 这个网络藏着两处毛病。反向传播之后，三个层的**每个**参数都应当有梯度，而且 `parameters()` 应列出全部六个。请修复它。


# %% exercise=3
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
        self.rest = [nn.Linear(4, 4), nn.Linear(4, 1)]

    def forward(self, x):
        h = torch.tanh(self.first(x))
        h = torch.tensor(h.tolist())
        for layer in self.rest:
            h = layer(h)
        return h


# %%
@lesson.check(3)
def check_net(want):
    torch.manual_seed(0)
    net = Net()
    net(torch.ones(3, 2)).sum().backward()
    want.value(len(list(net.parameters())), 6)
    want.that(net.first.weight.grad is not None)
    want.that(all(p.grad is not None for layer in net.rest for p in layer.parameters()))


# %% solution=3
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
        self.rest = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 1)])

    def forward(self, x):
        h = torch.tanh(self.first(x))
        for layer in self.rest:
            h = layer(h)
        return h


# %% wrong=3
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
        self.rest = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 1)])

    def forward(self, x):
        h = torch.tanh(self.first(x))
        h = torch.tensor(h.tolist(), requires_grad=True)
        for layer in self.rest:
            h = layer(h)
        return h


# %% wrong=3
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
        self.rest = [nn.Linear(4, 4), nn.Linear(4, 1)]

    def forward(self, x):
        h = torch.tanh(self.first(x))
        for layer in self.rest:
            h = layer(h)
        return h


# %% [markdown] lang="en"
# ## What stays
#
# - Ask in this order: does it require grad, is it a leaf, was it used, was the path cut, did backward run,
#   was it cleared?
# - `None`: not connected. Zero: connected, with derivative 0.
# - A path cut in the middle raises no error. Check that every parameter gets a gradient in the first step.

# %% [markdown] lang="zh"
# ## 小结
#
# - 按这个顺序问：它需要梯度吗？是叶子吗？被用到了吗？路径被切断了吗？反向传播运行了吗？被清空了吗？
# - `None`：没有连通。零：连通了，但导数为 0。
# - 路径在中间被切断不会报错。训练第一步之后，请检查每个参数是否都有梯度。

# %%
lesson
