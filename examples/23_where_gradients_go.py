# %% [markdown] lang="en"
# # Where gradients go: shapes, sums, losses, layers
#
# **Question.** A tensor is reshaped, copied, summed, pooled, scored. Each of these sends back a gradient of its
# input's own shape. Which entry gets how much?

# %% [markdown] lang="zh"
# # 梯度去了哪里：形状、求和、损失与层
#
# **问题**：张量被改变形状、复制、求和、池化、打分。每一种运算都会送回一个与输入同形状的梯度。哪个元素得到多少？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import nn, teach

lesson = teach.Lesson("23", exercises=3)


# %%
def back(function, *values):
    inputs = [torch.tensor(value, requires_grad=True) for value in values]
    function(*inputs).sum().backward()
    found = [[round(v, 4) for v in x.grad.flatten().tolist()] for x in inputs]
    return found[0] if len(found) == 1 else found


# %% [markdown] lang="en"
# ## Reductions
#
# `back` gives the gradient of the sum of what a function returns. Predict it for three functions of a vector: `prod` of
# `[2, 0, 5]`, `cumsum` of three numbers, and `amax` of `[3, 3, 1]`.

# %% [markdown] lang="zh"
# ## 归约
#
# `back` 给出“函数结果之和”的梯度。请预测三个向量函数的梯度：`[2, 0, 5]` 的 `prod`、三个数的 `cumsum`、`[3, 3, 1]` 的 `amax`。

# %%
guess_prod = [..., ..., ...]
guess_cumsum = [..., ..., ...]
guess_amax = [..., ..., ...]

# %%
lesson.compare(guess_prod, back(lambda x: x.prod(), [2.0, 0.0, 5.0]))
lesson.compare(guess_cumsum, back(lambda x: x.cumsum(0), [1.0, 2.0, 3.0]))
lesson.compare(guess_amax, back(lambda x: x.amax(0), [3.0, 3.0, 1.0]))
print("mean     ", back(lambda x: x.mean(), [1.0, 2.0, 6.0, 7.0]))
print("std      ", back(lambda x: x.std(), [1.0, 2.0, 6.0]))
print("var      ", back(lambda x: x.var(), [1.0, 2.0, 6.0]))
print("norm at 0", back(lambda x: x.norm(), [0.0, 0.0]))
print("logsumexp", back(lambda x: x.logsumexp(0), [1.0, 2.0, 3.0]))
print("softmax  ", [round(v, 4) for v in torch.tensor([1.0, 2.0, 3.0]).softmax(0).tolist()])

# %% [markdown] lang="en"
# A product sends each factor the product of the **others**, also where one is zero. An entry of a running sum is
# in all sums after it. Equal maxima share. And the gradient of `logsumexp` is the softmax: the reason why
# losses are built from it.
#
# ## Shapes
#
# What only moves numbers moves gradients back the same way; what copies them adds the copies up. The two weights below
# make it visible. Predict the gradient of `x` (two numbers) when `x.expand(3, 2)` is summed, and when `x.repeat(2)`
# is multiplied by `[1, 2, 3, 4]` and summed. And does `view` accept a transposed matrix (`True` or `False`)?

# %% [markdown] lang="zh"
# 乘积送给每个因子的，是**其他**因子之积，有零时也一样。累加和里，一个元素会出现在它之后的所有和中。相等的最大值平分梯度。
# 而 `logsumexp` 的梯度正是 softmax：损失函数由它构成，原因就在这里。
#
# ## 形状
#
# 只搬动数值的运算，把梯度按原路搬回；复制数值的运算，则把各份加起来。下面用不同的权重让这一点看得见。
# `x` 有两个数：请预测 `x.expand(3, 2)` 求和时 `x` 的梯度，以及 `x.repeat(2)` 乘以 `[1, 2, 3, 4]` 再求和时的梯度。
# 另外，`view` 接受转置后的矩阵吗（`True` 或 `False`）？

# %%
guess_expand = [..., ...]
guess_repeat = [..., ...]
guess_view = ...

# %%
weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
lesson.compare(guess_expand, back(lambda x: x.expand(3, 2), [1.0, 1.0]))
lesson.compare(guess_repeat, back(lambda x: x.repeat(2) * weights, [1.0, 1.0]))
try:
    torch.ones(2, 3).t().view(6)
    viewed = True
except RuntimeError as error:
    print(error)
    viewed = False
lesson.compare(guess_view, viewed)

square = [[1.0, 2.0], [3.0, 4.0]]
moves = {
    "permute": lambda x: x.permute(1, 0).reshape(4),
    "flip": lambda x: x.flip(0).flatten(),
    "stack": lambda x: torch.stack([x[0], x[1]], 1).reshape(4),
    "cat": lambda x: torch.cat([x[1:], x[:1]]).view(4),
    "split": lambda x: torch.cat(x.split(1)[::-1]).view(4),
    "chunk": lambda x: torch.cat(x.chunk(2, 1)).view(4),
    "unbind": lambda x: torch.cat(x.unbind(1)),
    "unsqueeze": lambda x: x.unsqueeze(0).squeeze(0).view(4),
}
for name, move in moves.items():
    print(f"{name:10}", back(lambda x, move=move: move(x) * weights, square))
w = torch.tensor(square, requires_grad=True)
moved = (torch.cat(w.unbind(1)) * weights).sum()
gradviz.show(moved)

# %% [markdown] lang="en"
# A transposed matrix is not one stretch of memory any more: `reshape` copies where `view` refuses, and
# `contiguous()` is that copy (and nothing at all where there is no need).
#
# ## Tables and products
#
# `gather` and `embedding` read, `scatter_add` writes; read twice means twice the gradient. In a product each
# operand gets the other one, summed over everything that was broadcast. Predict the gradient of a table of 3 rows of one
# number when the rows `[2, 0, 2]` are looked up and summed; and of `bias` (one number) in `(ones(4, 2) + bias).sum()`.

# %% [markdown] lang="zh"
# 转置后的矩阵在内存里不再是连续的一段：`view` 拒绝时，`reshape` 会复制；`contiguous()` 就是这次复制（不需要时什么也不做）。
#
# ## 查表与乘积
#
# `gather` 和 `embedding` 是读，`scatter_add` 是写；读两次就有两份梯度。乘积中，每个操作数得到另一个操作数，并在所有广播过的维度上求和。
# 一张表有 3 行，每行一个数，查出第 `[2, 0, 2]` 行并求和，请预测这张表的梯度；再预测 `(ones(4, 2) + bias).sum()` 中
# `bias`（一个数）的梯度。

# %%
guess_table = [..., ..., ...]
guess_bias = [...]

# %%
rows = torch.tensor([2, 0, 2])
table = [[1.0], [2.0], [3.0]]
lesson.compare(guess_table, back(lambda t: nn.functional.embedding(rows, t), table))
lesson.compare(guess_bias, back(lambda bias: torch.ones(4, 2) + bias, [0.5]))
print("gather     ", back(lambda x: x.gather(0, rows), [1.0, 2.0, 3.0]))
written = torch.zeros(3)
print("scatter_add", back(lambda x: written.scatter_add(0, rows, x)[2], [1.0, 2.0, 3.0]))
print("einsum     ", back(lambda a, b: torch.einsum("i,j->ij", a, b), [1.0, 2.0], [3.0, 4.0]))
print("bmm        ", back(torch.bmm, [[[1.0, 2.0]]], [[[3.0], [4.0]]]))

# %% [markdown] lang="en"
# ## When shapes do not fit
#
# The messages name the numbers that disagree. Learn to read them.

# %% [markdown] lang="zh"
# ## 形状不合时
#
# 错误信息会写出互相矛盾的数字。请学会读它们。

# %%
misfits = {
    "broadcast": lambda: torch.ones(2) + torch.ones(3),
    "product": lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    "reshape": lambda: torch.ones(6).reshape(4, 2),
    "index": lambda: torch.ones(3)[5],
    "dim": lambda: torch.ones(3).sum(2),
    "cat": lambda: torch.cat([torch.ones(1, 2), torch.ones(1, 3)]),
}
for name, misfit in misfits.items():
    try:
        misfit()
    except (RuntimeError, IndexError) as error:
        print(f"{name:10}", type(error).__name__, "|", error)

# %% [markdown] lang="en"
# ## Curves and losses
#
# `round` and `sign` are flat almost everywhere, so nothing passes. Losses are chosen for what they send back. Predict the
# gradient of the scores in `cross_entropy` for three equal scores and the right class 0, and of a score of 0 in
# `binary_cross_entropy_with_logits` with target 1. For `l1_loss` and `smooth_l1_loss`: the gradient at an error of 3.

# %% [markdown] lang="zh"
# ## 曲线与损失
#
# `round` 和 `sign` 几乎处处是平的，所以什么也传不回去。损失函数则是按它们送回什么来选的。请预测：三个得分相等、正确类别为 0 时，
# `cross_entropy` 对得分的梯度；目标为 1 时，`binary_cross_entropy_with_logits` 对得分 0 的梯度；
# 误差为 3 时，`l1_loss` 和 `smooth_l1_loss` 的梯度。

# %%
guess_scores = [..., ..., ...]
guess_logit = [...]
guess_l1 = [...]
guess_smooth_l1 = [...]

# %%
F = nn.functional
one, zero = torch.ones(1), torch.zeros(1)
scores = back(lambda x: F.cross_entropy(x[None], torch.tensor([0])), [1.0, 1.0, 1.0])
lesson.compare(guess_scores, scores)
lesson.compare(guess_logit, back(lambda x: F.binary_cross_entropy_with_logits(x, one), [0.0]))
lesson.compare(guess_l1, back(lambda x: F.l1_loss(x, zero), [3.0]))
lesson.compare(guess_smooth_l1, back(lambda x: F.smooth_l1_loss(x, zero), [3.0]))
for name in ("mse_loss", "l1_loss", "smooth_l1_loss"):
    loss = getattr(F, name)
    print(f"{name:15}", [back(lambda x, f=loss: f(x, zero), [e])[0] for e in (0.1, 1.0, 3.0)])
picked = back(lambda x: F.nll_loss(x[None], torch.tensor([0])), [-1.0, -1.0, -1.0])
print("nll_loss       ", picked)
for name in ("round", "sign", "sigmoid", "sqrt"):
    print(f"{name:15}", back(getattr(torch, name), [0.25, 1.0, 4.0]))
print("gelu           ", back(F.gelu, [-1.0, 0.0, 1.0]))
print("softplus       ", back(F.softplus, [-1.0, 0.0, 1.0]))

# %% [markdown] lang="en"
# What `cross_entropy` sends back is probability minus answer: $p - y$. A squared error pulls harder the
# further off; `l1` always pulls alike; `smooth_l1` goes from one to the other.
#
# ## Layers
#
# A 2×2 window slides over a 3×3 image. Predict how many windows each of the nine pixels is in (that is the
# gradient of a sum of sums), and which share the largest of four pixels gets from `max_pool2d`. A batch norm keeps
# running statistics: numbers that are saved with the model and get no gradient. Predict whether `running_mean` is
# among `parameters()`.

# %% [markdown] lang="zh"
# `cross_entropy` 送回的是概率减答案：$p - y$。平方误差偏得越远拉得越狠；`l1` 的拉力始终一样；`smooth_l1` 从一种过渡到另一种。
#
# ## 层
#
# 一个 2×2 的窗口在 3×3 的图像上滑动。请预测九个像素各落在几个窗口里（这就是“和之和”的梯度），以及 `max_pool2d`
# 中四个像素里最大的那个得到多少。批归一化保存着滑动统计量：它们随模型保存，但没有梯度。
# 请预测 `running_mean` 是否在 `parameters()` 之中。

# %%
guess_pixels = [..., ..., ..., ..., ..., ..., ..., ..., ...]
guess_largest = ...
guess_running = ...

# %%
image = [[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]
lesson.compare(guess_pixels, back(lambda x: F.conv2d(x, torch.ones(1, 1, 2, 2)), image))
four = [[[[1.0, 4.0], [2.0, 3.0]]]]
lesson.compare(guess_largest, max(back(lambda x: F.max_pool2d(x, 2), four)))
print("avg_pool2d", back(lambda x: F.avg_pool2d(x, 2), four))
print("layer_norm", back(lambda x: F.layer_norm(x, (3,)) * weights[:3], [1.0, 2.0, 6.0]))

norm = nn.BatchNorm1d(1)
norm(torch.tensor([[1.0], [3.0]]))
names = [name for name, _ in norm.named_parameters()]
lesson.compare(guess_running, "running_mean" in names)
print(names, [name for name, _ in norm.named_buffers()])
print("running_mean", round(norm.running_mean.item(), 4), norm.running_mean.requires_grad)
norm.eval()
print("eval       ", round(norm(torch.tensor([[1.0]])).item(), 4))

# %% [markdown] lang="en"
# A number of your own that belongs to a module and is not learned is registered the same way, with `register_buffer`:
# then `state_dict()` and `to()` know of it.
#
# ## Exercise 1
#
# Write `score_gradient(scores, answers)`: the gradient of the **mean** `cross_entropy` with respect to `scores`, **without**
# autograd, from the rule above.

# %% [markdown] lang="zh"
# 属于模块、又不需要学习的数值，也用同样的办法登记：`register_buffer`，这样 `state_dict()` 和 `to()` 就都知道它。
#
# ## 练习 1
#
# 写出 `score_gradient(scores, answers)`：**平均** `cross_entropy` 对 `scores` 的梯度，**不用**自动微分，只用上面的规则。


# %% exercise=1
def score_gradient(scores, answers):
    return ...


# %%
@lesson.check(1)
def check_score(want):
    scores = torch.tensor([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], requires_grad=True)
    answers = torch.tensor([1, 0])
    F.cross_entropy(scores, answers).backward()
    found = score_gradient(scores.detach(), answers)
    want.value(found, scores.grad.tolist())
    want.untracked(found)


# %% solution=1
def score_gradient(scores, answers):
    truth = F.one_hot(answers, scores.shape[1])
    return (scores.softmax(1) - truth) / len(scores)


# %% wrong=1
def score_gradient(scores, answers):
    return scores.softmax(1) - F.one_hot(answers, scores.shape[1])


# %% wrong=1
def score_gradient(scores, answers):
    return (scores - F.one_hot(answers, scores.shape[1])) / len(scores)


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `halve(x)`: `avg_pool2d` with a window of 2 for a batch `(n, c, h, w)` of even height and width, from `reshape` (or
# `view`) and `mean` alone.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `halve(x)`：对形状为 `(n, c, h, w)`、高宽均为偶数的一批图像做窗口为 2 的 `avg_pool2d`，只用 `reshape`（或 `view`）和 `mean`。


# %% exercise=2
def halve(x):
    return ...


# %%
@lesson.check(2)
def check_halve(want):
    x = torch.arange(32.0).reshape(1, 2, 4, 4).requires_grad_()
    result = halve(x)
    want.value(result, F.avg_pool2d(x, 2).tolist())
    result[0, 1, 0, 1].backward()
    quarter = [0.0, 0.0, 0.25, 0.25]
    want.grad(x, [[[[0.0] * 4] * 4, [quarter, quarter, [0.0] * 4, [0.0] * 4]]])
    want.nodes(result, AvgPool2DBackward0=0)


# %% solution=2
def halve(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).mean((3, 5))


# %% wrong=2
def halve(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, w // 2, 4).mean(4)


# %% wrong=2
def halve(x):
    return F.avg_pool2d(x, 2)


# %% wrong=2
def halve(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).amax((3, 5))


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# Pictures arrive as `(height, width, colour)`; the layer wants `(colour, height, width)`. `channels_first` gives that
# shape and raises no error, and training is hopeless: it mixes the colours. Repair it. (Look at which pixel gets the gradient.)

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# 图片的形状是 `(高, 宽, 颜色)`，而层要求 `(颜色, 高, 宽)`。`channels_first` 给出了这个形状，也没有报错，训练却毫无希望：
# 它把颜色混在了一起。请修复它。（看看是哪个像素得到了梯度。）


# %% exercise=3
def channels_first(picture):
    height, width, colours = picture.shape
    return picture.reshape(colours, height, width)


# %%
@lesson.check(3)
def check_channels(want):
    picture = torch.arange(12.0).reshape(2, 2, 3).requires_grad_()
    result = channels_first(picture)
    want.value(result[0], [[0.0, 3.0], [6.0, 9.0]])
    result[0].sum().backward()
    want.grad(picture, [[[1.0, 0.0, 0.0]] * 2] * 2)


# %% solution=3
def channels_first(picture):
    return picture.permute(2, 0, 1)


# %% wrong=3
def channels_first(picture):
    return picture.transpose(0, 2)


# %% wrong=3
def channels_first(picture):
    return torch.stack([colour.detach() for colour in picture.unbind(2)])


# %% [markdown] lang="en"
# ## What stays
#
# - A gradient has the shape of its tensor: what was moved is moved back, what was copied is added up, what was
#   broadcast is summed.
# - `reshape` never changes the order of the numbers; `permute` does. Only one of them is what you mean.
# - Losses differ in what they send back. `cross_entropy` sends probability minus answer.

# %% [markdown] lang="zh"
# ## 小结
#
# - 梯度与它的张量同形状：搬动过的搬回来，复制过的加起来，广播过的求和。
# - `reshape` 从不改变数值的顺序，`permute` 会。两者之中只有一个是你想要的。
# - 各种损失的区别在于送回什么。`cross_entropy` 送回的是概率减答案。

# %%
lesson
