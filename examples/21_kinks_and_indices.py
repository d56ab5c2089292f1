# %% [markdown] lang="en"
# # Kinks, ties, indices and NumPy
#
# **Question.** The chain rule is clear for smooth functions of numbers. What does autograd do at a kink, with
# equal maxima, with an
# entry that is used twice, with complex numbers, and where your data passes through NumPy?

# %% [markdown] lang="zh"
# # 拐点、并列、索引与 NumPy
#
# **问题**：对光滑函数，链式法则很清楚。可是在拐点处、有几个相等的最大值时、同一个元素用了两次时、遇到复数时、数据经
# 过 NumPy 时，
# 自动微分会怎么做？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
import numpy as np
from gradviz import teach

lesson = teach.Lesson("21", exercises=3)

# %% [markdown] lang="en"
# ## Kinks and ties
#
# Predict the gradients: of `relu` and of `abs` at 0; of `clamp(x, -1, 1)` exactly at 1; of `max()` over `[3,
# 3]`; and of
# `max(dim=0)` over the same `[3, 3]` (it also says *where* the maximum was). The last two are lists.

# %% [markdown] lang="zh"
# ## 拐点与并列
#
# 请预测梯度：`relu` 和 `abs` 在 0 处；`clamp(x, -1, 1)` 恰好在 1 处；对 `[3, 3]` 求 `max()`；以及对同一个 `[3, 3]` 求
# `max(dim=0)`（它还会给出最大值的**位置**）。后两个填列表。

# %%
guess_relu = ...
guess_abs = ...
guess_clamp = ...
guess_max = [..., ...]
guess_max_dim = [..., ...]


# %%
def slope(function, at):
    x = torch.tensor(at, requires_grad=True)
    function(x).backward()
    return x.grad.tolist()


relu_at_0 = slope(torch.relu, 0.0)
abs_at_0 = slope(torch.abs, 0.0)
clamp_at_1 = slope(lambda x: x.clamp(-1.0, 1.0), 1.0)
max_of_equals = slope(lambda x: x.max(), [3.0, 3.0])
max_dim_of_equals = slope(lambda x: x.max(dim=0).values, [3.0, 3.0])
lesson.compare(guess_relu, relu_at_0)
lesson.compare(guess_abs, abs_at_0)
lesson.compare(guess_clamp, clamp_at_1)
lesson.compare(guess_max, max_of_equals)
lesson.compare(guess_max_dim, max_dim_of_equals)

# %% [markdown] lang="en"
# At a kink one of the possible slopes is taken: 0 for `relu` and `abs`, 1 at the border of `clamp`. Equal
# maxima share the gradient
# evenly, unless an index was given out: then the one at that index takes all. Move the point along the curves:

# %% [markdown] lang="zh"
# 在拐点处，会从可能的斜率中取一个：`relu` 和 `abs` 取 0，`clamp` 的边界取 1。相等的最大值平分梯度；但如果给出了索引，
# 则由那个位置的元素独得。请沿曲线移动那个点看看：

# %%
gradviz.DerivativeTower(lambda x: torch.relu(x) + x.clamp(-2.0, -1.0), order=1)

# %% [markdown] lang="en"
# ## Indices
#
# `x[[0, 0, 2]]` reads entry 0 twice. Predict the gradient of its sum for `x` of length 3. Then a slice is
# **written**: `h = zeros(3)` is not
# tracked, `h[1] = w` puts a tracked number into it. Does `h` require grad afterwards?

# %% [markdown] lang="zh"
# ## 索引
#
# `x[[0, 0, 2]]` 把第 0 个元素读了两次。`x` 长度为 3，请预测对其求和的梯度。接着是**写入**切片：`h = zeros(3)` 没有被跟踪，
# `h[1] = w` 把一个被跟踪的数放了进去。之后 `h` 需要梯度吗？

# %%
guess_index = [..., ..., ...]
guess_written = ...

# %%
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
picked = x[[0, 0, 2]]
picked.sum().backward()
lesson.compare(guess_index, x.grad)

w = torch.tensor(5.0, requires_grad=True)
h = torch.zeros(3)
h[1] = w
lesson.compare(guess_written, h.requires_grad)
gradviz.show((h * 2).sum())

# %% [markdown] lang="en"
# What is read twice collects twice. Writing a tracked value into a buffer is an operation like any other
# (`CopySlices`): the buffer becomes
# a result.
#
# ## Types
#
# Predict the dtype, as text like `"float32"`: of an integer vector divided by 2; of a `float32` vector times
# a `float64` **number without
# dimensions**; of a `float32` vector times a `float64` vector. And the gradient of $|z|^2$ at $z = 1 + 2i$,
# as a Python complex number.

# %% [markdown] lang="zh"
# 读两次就收两份梯度。把被跟踪的值写进缓冲区也是一种运算（`CopySlices`）：缓冲区变成了计算结果。
#
# ## 类型
#
# 请预测 dtype，填 `"float32"` 这样的文字：整数向量除以 2；`float32` 向量乘以 `float64` 的**零维**张量；`float32` 向量
# 乘以 `float64` 向量。
# 再预测 $|z|^2$ 在 $z = 1 + 2i$ 处的梯度，填 Python 复数。

# %%
guess_divided = ...
guess_times_number = ...
guess_times_vector = ...
guess_complex = ...


# %%
def name(tensor):
    return str(tensor.dtype).split(".")[-1]


ones = torch.ones(2)
divided = name(torch.tensor([1, 2]) / 2)
times_number = name(ones * torch.tensor(1.0, dtype=torch.float64))
times_vector = name(ones * torch.ones(2, dtype=torch.float64))
z = torch.tensor(1 + 2j, requires_grad=True)
(z.abs() ** 2).backward()

lesson.compare(guess_divided, divided)
lesson.compare(guess_times_number, times_number)
lesson.compare(guess_times_vector, times_vector)
lesson.compare(guess_complex, z.grad.item())

# %% [markdown] lang="en"
# A number without dimensions does not widen a vector of the same kind. For complex numbers the gradient
# points where a real result grows
# fastest: $2z$ for $|z|^2$. So a step against it is a descent, as for real ones.
#
# ## Through NumPy
#
# NumPy knows no graph. Predict: does `w.numpy()` of a tracked tensor work? And after `a = plain.numpy()`,
# `a[0] = -1`: has `plain` changed?

# %% [markdown] lang="zh"
# 零维张量不会拓宽同类向量的类型。对复数来说，梯度指向实数结果增长最快的方向：$|z|^2$ 的梯度是 $2z$。因此与实数一样，
# 逆着它走一步就是下降。
#
# ## 经过 NumPy
#
# NumPy 不认识计算图。请预测：对被跟踪的张量调用 `w.numpy()` 能成功吗？执行 `a = plain.numpy()`、`a[0] = -1` 之
# 后，`plain` 变了吗？

# %%
guess_numpy_works = ...
guess_changed = ...

# %%
w = torch.tensor([1.0, 2.0], requires_grad=True)
try:
    w.numpy()
    numpy_works = True
except RuntimeError as error:
    print(error)
    numpy_works = False

plain = torch.ones(2)
a = plain.numpy()
a[0] = -1.0
changed = plain[0].item() == -1.0
third = torch.from_numpy(a)
lesson.compare(guess_numpy_works, numpy_works)
lesson.compare(guess_changed, changed)
gradviz.StorageMap(plain=plain, third=third, w=w)

# %% [markdown] lang="en"
# The refusal is a kindness: an array would have lost the path silently. `w.detach().numpy()` says that you
# mean it, and shares the memory. `torch.from_numpy(a)` is one more name on the same memory.
#
# ## Exercise 1
#
# Write `reads(index, n)`: how often each of `n` entries was read by `x[index]`, **found by a backward**, not
# by counting.

# %% [markdown] lang="zh"
# 拒绝其实是好意：变成数组会悄悄丢掉路径。写 `w.detach().numpy()` 表示你就是要这样，并且共享内存。
# `torch.from_numpy(a)` 是同一块内存的又一个名字。
#
# ## 练习 1
#
# 写出 `reads(index, n)`：`x[index]` 把 `n` 个元素各读了几次，要**由反向传播得到**，而不是去数。


# %% exercise=1
def reads(index, n):
    return ...


# %%
@lesson.check(1)
def check_reads(want):
    found = reads(torch.tensor([0, 2, 2, 3, 2]), 5)
    want.value(found, [1.0, 0.0, 3.0, 1.0, 0.0])
    want.untracked(found)
    want.value(reads(torch.tensor([1]), 2), [0.0, 1.0])


# %% solution=1
def reads(index, n):
    x = torch.zeros(n, requires_grad=True)
    x[index].sum().backward()
    return x.grad


# %% wrong=1
def reads(index, n):
    x = torch.zeros(n, requires_grad=True)
    return x[index]


# %% wrong=1
def reads(index, n):
    x = torch.zeros(n)
    x[index] = 1.0
    return x


# %% [markdown] lang="en"
# ## Exercise 2
#
# Write `straight_clamp(x)`: the value of `x.clamp(-1, 1)` with the gradient of `x` itself (1 everywhere),
# from ordinary operations.
#
# <details><summary>Hint</summary>
#
# `x + (something).detach()` has the gradient of `x`, whatever the something is.
#
# </details>

# %% [markdown] lang="zh"
# ## 练习 2
#
# 写出 `straight_clamp(x)`：值等于 `x.clamp(-1, 1)`，梯度却等于 `x` 本身的梯度（处处为 1），只用普通运算。
#
# <details><summary>提示</summary>
#
# 无论括号里是什么，`x + (……).detach()` 的梯度都是 `x` 的梯度。
#
# </details>


# %% exercise=2
def straight_clamp(x):
    return ...


# %%
@lesson.check(2)
def check_straight(want):
    x = torch.tensor([-3.0, 0.5, 2.0], requires_grad=True)
    y = straight_clamp(x)
    want.value(y, [-1.0, 0.5, 1.0])
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    want.grad(x, [1.0, 2.0, 3.0])


# %% solution=2
def straight_clamp(x):
    return x + (x.clamp(-1.0, 1.0) - x).detach()


# %% wrong=2
def straight_clamp(x):
    return x.clamp(-1.0, 1.0)


# %% wrong=2
def straight_clamp(x):
    return x.clamp(-1.0, 1.0).detach().requires_grad_()


# %% wrong=2
def straight_clamp(x):
    return x.detach() + (x.clamp(-1.0, 1.0) - x)


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# `powers` collects $w, w^2, w^3$ in a NumPy array and makes a tensor of it. The values are right; `w` never
# learns. Repair it.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# `powers` 把 $w, w^2, w^3$ 收集到 NumPy 数组里，再做成张量。数值都对，`w` 却永远学不到东西。请修复它。


# %% exercise=3
def powers(w):
    found = np.zeros(3, dtype=np.float32)
    for k in range(3):
        found[k] = (w ** (k + 1)).item()
    return torch.tensor(found, requires_grad=True)


# %%
@lesson.check(3)
def check_powers(want):
    w = torch.tensor(2.0, requires_grad=True)
    result = powers(w)
    want.value(result, [2.0, 4.0, 8.0])
    want.flows(w, result)
    result.sum().backward()
    want.grad(w, 1.0 + 4.0 + 12.0)


# %% solution=3
def powers(w):
    return torch.stack([w ** (k + 1) for k in range(3)])


# %% wrong=3
def powers(w):
    return torch.tensor([w ** (k + 1) for k in range(3)], requires_grad=True)


# %% wrong=3
def powers(w):
    found = torch.zeros(3)
    for k in range(3):
        found[k] = w.detach() ** (k + 1)
    return found.requires_grad_()


# %% [markdown] lang="en"
# ## What stays
#
# - At kinks one slope is chosen; equal maxima share; an entry read twice collects twice.
# - Writing into a buffer is recorded. Going through NumPy, `item()` or `torch.tensor(...)` is not.
# - Build results with `stack`, `cat` and indexing, never by copying numbers.

# %% [markdown] lang="zh"
# ## 小结
#
# - 在拐点处选一个斜率；相等的最大值平分梯度；读两次的元素收两份。
# - 写入缓冲区会被记录；经过 NumPy、`item()` 或 `torch.tensor(...)` 则不会。
# - 用 `stack`、`cat` 和索引来拼装结果，不要靠复制数值。

# %%
lesson
