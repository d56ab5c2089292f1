# %% [markdown] lang="en"
# # In-place operations and version counters
#
# **Question.** `x += 1` is fine in one line and an error in the next. Can you tell beforehand which?

# %% [markdown] lang="zh"
# # 就地运算与版本计数
#
# **问题**：同样是 `x += 1`，这一行没事，下一行却报错。能不能事先看出来？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import teach

lesson = teach.Lesson("09", exercises=3)

# %% [markdown] lang="en"
# ## Predict
#
# Five programs change something in place before `backward()`. `True`: it works and the gradient is right. `False`: an
# error. Read each one closely; the second looks like the one that tutorials warn of.

# %% [markdown] lang="zh"
# ## 先预测
#
# 下面五个程序都在 `backward()` 之前就地修改了某个东西。能运行且梯度正确填 `True`，报错填 `False`。请逐个细读；第二个
# 正是教程里常常警告的写法。


# %%
def leaf_changed():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    w += 1
    return w.sum()


def loss_added_to():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = (w**2).sum()
    loss += (w**3).sum()
    return loss


def input_of_square_changed():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    h = w * 3
    result = h**2
    h += 1
    return result.sum()


def input_of_sum_changed():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    h = w * 3
    result = h + 5
    h += 1
    return result.sum()


def result_of_exp_changed():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    result = torch.exp(w)
    result += 1
    return result.sum()


guess_leaf = ...
guess_loss = ...
guess_square = ...
guess_sum = ...
guess_exp = ...


# %%
def works(program):
    try:
        program().backward()
    except RuntimeError as error:
        print(program.__name__, "->", error)
        return False
    return True


lesson.compare(guess_leaf, works(leaf_changed))
lesson.compare(guess_loss, works(loss_added_to))
lesson.compare(guess_square, works(input_of_square_changed))
lesson.compare(guess_sum, works(input_of_sum_changed))
lesson.compare(guess_exp, works(result_of_exp_changed))

# %% [markdown] lang="en"
# There are exactly two rules:
#
# 1. **A leaf that requires grad** may not be changed in place while recording is on.
# 2. **A value that a node has saved** may not have changed when backward needs it.
#
# `loss += term` breaks neither, and neither does changing the input of an addition, which saves nothing.
# `h**2` has saved
# its input, `exp` its *result*.
#
# ## The counter
#
# How does the engine notice? Every piece of memory counts its changes. A node writes down the count when it
# saves, and
# compares when it unpacks. Predict `h._version` after these two changes.

# %% [markdown] lang="zh"
# 规则只有两条：
#
# 1. 在记录打开时，**需要梯度的叶子**不能就地修改。
# 2. **被节点保存的值**，到反向传播要用它时不能已经变了。
#
# `loss += term` 两条都没有违反；修改加法的输入也没有，因为加法什么都不保存。而 `h**2` 保存了它的输入，`exp` 保存了它
# 的**结果**。
#
# ## 计数器
#
# 引擎是怎么发现的？每块内存都记着自己被改过几次。节点保存时记下当时的次数，取用时再比较。下面改了两次之
# 后，`h._version` 是多少？

# %%
guess_version = ...

# %%
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
h = w * 2
h += 1
h[0] = 0.0
lesson.compare(guess_version, h._version)
gradviz.show(h.sum())

# %% [markdown] lang="en"
# Names that share memory share the counter. Now change `h` twice more: through `h.detach()`, then through `h.data`.
# Which of the two does the counter notice? Predict `True` or `False` for each.

# %% [markdown] lang="zh"
# 共享内存的名字也共享计数器。现在再改 `h` 两次：一次通过 `h.detach()`，一次通过 `h.data`。计数器会注意到哪一次？
# 请分别填 `True` 或 `False`。

# %%
guess_detach = ...
guess_data = ...

# %%
before = h._version
h.detach()[1] = 0.0
noticed_detach = h._version > before

before = h._version
h.data[2] = 0.0
noticed_data = h._version > before

lesson.compare(guess_detach, noticed_detach)
lesson.compare(guess_data, noticed_data)
gradviz.StorageMap(h=h, w=w)

# %% [markdown] lang="en"
# `.data` is a way round the check, and so a way to **wrong gradients without an error**. Measured:

# %% [markdown] lang="zh"
# `.data` 绕过了检查，因此也能**悄无声息地得到错误的梯度**。测一测：

# %%
w = torch.tensor(3.0, requires_grad=True)
square = w**2
w.data.fill_(100.0)
square.backward()
print("should be 2 * 3 = 6, is", w.grad.item())

# %% [markdown] lang="en"
# ## Rebinding is not changing
#
# "`x += 1.0` is wrong, `x = x + 1.0` is right" says another text. The second is not an error, but it makes a
# **new** tensor
# and gives it the old name. The optimizer still holds the old one. Predict whether `x.grad` is there in the end.

# %% [markdown] lang="zh"
# ## 重新绑定不是修改
#
# 还有文章说：“`x += 1.0` 是错的，`x = x + 1.0` 才对。”后者不会报错，但它创建了一个**新**张量，再把旧名字给它，优化器
# 手里仍是旧的那个。
# 请预测最后 `x.grad` 有没有值。

# %%
guess_rebound = ...

# %%
import warnings

x = torch.tensor(1.0, requires_grad=True)
optimizer = torch.optim.SGD([x], lr=0.1)
x = x + 1.0
(x**2).backward()
optimizer.step()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lesson.compare(guess_rebound, x.grad is not None)

# %%
gradviz.explain(x)

# %% [markdown] lang="en"
# ## Views that may not be written
#
# A view made under `no_grad`, and one of several views that one call gave, know no single history to rebase. Writing
# into them is refused.

# %% [markdown] lang="zh"
# ## 不能写入的视图
#
# 在 `no_grad` 下建立的视图，以及一次调用给出的多个视图之一，都没有唯一的历史可以改写，所以写入会被拒绝。

# %%
base = torch.ones(2, requires_grad=True) * 1
with torch.no_grad():
    quiet = base[:1]
first_view, second_view = base.unbind()
for name, view in {"under no_grad": quiet, "one of several": first_view}.items():
    try:
        view.mul_(torch.ones((), requires_grad=True))
        print(name, "written")
    except RuntimeError as error:
        print(name, "|", str(error).split(".")[0])

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write `update(w, rate)`: one step of gradient descent on the leaf `w`, **in place** (the same object, the
# same memory),
# not recorded, with the gradient cleared afterwards.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 `update(w, rate)`：对叶子 `w` 做一步梯度下降，必须**就地**进行（同一个对象、同一块内存），不被记录，之后清空梯度。


# %% exercise=1
def update(w, rate):
    return ...


# %%
@lesson.check(1)
def check_update(want):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    place = w.data_ptr()
    for _ in range(2):
        (w**2).sum().backward()
        want.done(update(w, 0.25))
    want.value(w, [0.25, 0.5])
    want.leaf(w)
    want.grad(w, None)
    want.that(w.data_ptr() == place)


# %% solution=1
def update(w, rate):
    with torch.no_grad():
        w -= rate * w.grad
    w.grad = None


# %% wrong=1
def update(w, rate):
    w -= rate * w.grad
    w.grad = None


# %% wrong=1
def update(w, rate):
    w = (w - rate * w.grad).detach().requires_grad_()


# %% wrong=1
def update(w, rate):
    with torch.no_grad():
        w -= rate * w.grad


# %% [markdown] lang="en"
# ## Exercise 2
#
# Predict with a function. Write `will_fail(w, change)`: `True` when the backward of `torch.sigmoid(w).sum()`
# fails because
# `change(result)` has changed the sigmoid's result in place, `False` otherwise. Look at the version counter;
# do not run
# the backward.

# %% [markdown] lang="zh"
# ## 练习 2
#
# 用函数来预测。写出 `will_fail(w, change)`：如果 `change(result)` 就地修改了 sigmoid 的结果，导
# 致 `torch.sigmoid(w).sum()` 的反向传播失败，
# 返回 `True`，否则返回 `False`。请查看版本计数，不要真的运行反向传播。


# %% exercise=2
def will_fail(w, change):
    return ...


# %%
@lesson.check(2)
def check_will_fail(want):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    passed = []
    w.register_hook(passed.append)
    want.value(will_fail(w, lambda r: r.mul_(2)), True)
    want.value(will_fail(w, lambda r: r.detach().zero_()), True)
    want.value(will_fail(w, lambda r: r * 2), False)
    want.value(will_fail(w, lambda r: r.view(2, 1).add_(1)), True)
    want.value(len(passed), 0)


# %% solution=2
def will_fail(w, change):
    result = torch.sigmoid(w)
    saved_at = result._version
    change(result)
    return result._version != saved_at


# %% wrong=2
def will_fail(w, change):
    result = torch.sigmoid(w)
    before = result.clone()
    return change(result) is result and not torch.equal(before, result)


# %% wrong=2
def will_fail(w, change):
    result = torch.sigmoid(w)
    change(result)
    try:
        result.sum().backward()
    except RuntimeError:
        return True
    return False


# %% [markdown] lang="en"
# ## Exercise 3: repair
#
# `normalise` subtracts the mean and passes the result through `tanh`. Saving memory with `-=` and `clamp_` breaks the
# backward in one of the two places. Repair that place and leave the other in place, where it is allowed.

# %% [markdown] lang="zh"
# ## 练习 3：修复
#
# `normalise` 先减去平均值，再经过 `tanh`。为了省内存用了 `-=` 和 `clamp_`，其中一处会让反向传播失败。请修复那一处，
# 另一处是允许的，让它保持就地。


# %% exercise=3
def normalise(h):
    h -= h.mean()
    result = torch.tanh(h)
    result.clamp_(-0.5, 0.5)
    return result


# %%
@lesson.check(3)
def check_normalise(want):
    w = torch.tensor([0.0, 0.2, 2.8], requires_grad=True)
    h = w * 1.0
    place = h.data_ptr()
    result = normalise(h)
    want.value(result, [-0.5, -0.5, 0.5])
    want.that(h.data_ptr() == place and h._version == 1)
    (result * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    want.grad(w, [0.0, 0.0, 0.0])
    w.grad = None
    normalise(torch.tensor([0.0, 0.3]) + w[:2]).sum().backward()
    want.that(w.grad[0].item() == -w.grad[1].item())


# %% solution=3
def normalise(h):
    h -= h.mean()
    result = torch.tanh(h)
    return result.clamp(-0.5, 0.5)


# %% wrong=3
def normalise(h):
    h = h - h.mean()
    result = torch.tanh(h)
    return result.clamp(-0.5, 0.5)


# %% wrong=3
def normalise(h):
    h -= h.mean()
    result = torch.tanh(h)
    result.data.clamp_(-0.5, 0.5)
    return result


# %% [markdown] lang="en"
# ## What stays
#
# - Two rules: no in-place change of a tracked leaf; no change of a value that was saved and is still needed.
# - The version counter belongs to the memory. Views and `detach()` share it; `.data` goes behind its back.
# - `x = x + 1` makes a new tensor. Update parameters in place, under `no_grad`.

# %% [markdown] lang="zh"
# ## 小结
#
# - 两条规则：不能就地修改需要梯度的叶子；不能修改已被保存、之后还要用到的值。
# - 版本计数属于内存。视图和 `detach()` 共享它；`.data` 则会瞒过它。
# - `x = x + 1` 会创建新张量。更新参数应当在 `no_grad` 下就地进行。

# %%
lesson
