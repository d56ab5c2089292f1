# %% [markdown] lang="en"
# # A Function of your own, and gradcheck
#
# **Question.** You know the derivative better than autograd does. How do you tell it, and how do you prove
# that you are right?

# %% [markdown] lang="zh"
# # 自己写 Function，并用 gradcheck 验证
#
# **问题**：某个运算的导数，你比自动微分更清楚。怎样告诉它？又怎样证明你是对的？

# %%
# %load_ext gradviz
import gradviz
import gradviz as torch
from gradviz import teach
from gradviz.autograd import Function, gradcheck, gradgradcheck

lesson = teach.Lesson("14", exercises=4)

# %% [markdown] lang="en"
# ## Forward, backward, and a bag between them
#
# `forward` computes, and puts into the bag `ctx` what `backward` will need. `backward` gets the gradient of
# the result and returns
# **one gradient for each input**, in order; `None` for an input that has none.

# %% [markdown] lang="zh"
# ## 前向、反向，以及中间的袋子
#
# `forward` 负责计算，并把 `backward` 要用的东西放进袋子 `ctx`。`backward` 拿到结果的梯度，按顺序为**每个输入返回一个
# 梯度**；没有梯度的输入返回 `None`。


# %%
class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


x = torch.tensor(2.0, requires_grad=True)
y = Cube.apply(x)
print(y)
gradviz.show(y)

# %% [markdown] lang="en"
# One node, `CubeBackward`, with one saved tensor, in place of whatever `x**3` would have recorded.
#
# A widely copied listing forgets `ctx.save_for_backward(x)` and says that `gradcheck` prints `True`. Predict
# what really comes:
# `"true"`, `"false"` or `"error"`.

# %% [markdown] lang="zh"
# 图里只有一个节点 `CubeBackward`，带着一个保存的张量，取代了 `x**3` 本来会记录的东西。
#
# 有一段被广泛转载的代码漏掉了 `ctx.save_for_backward(x)`，却声称 `gradcheck` 会打印 `True`。请预测实际结
# 果：`"true"`、`"false"` 还是 `"error"`。

# %%
guess_forgotten = ...


# %%
class Forgetful(Function):
    @staticmethod
    def forward(ctx, x):
        return x**2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


def outcome(function, x):
    try:
        return str(gradcheck(function, (x,))).lower()
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__, str(error).splitlines()[0])
        return "error"


x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
forgotten = outcome(Forgetful.apply, x)
lesson.compare(guess_forgotten, forgotten)

# %% [markdown] lang="en"
# ## What gradcheck does
#
# It nudges each input by a little `eps` to both sides and compares the slope with yours. A wrong gradient
# **raises** (unless you pass
# `raise_exception=False`). Nudging needs digits: do it in `float64`. The scanner below shows the error of the
# numerical slope
# of $x^3$ at 2 for many `eps`. Predict which `eps` is better in `float32`: `1e-2` or `1e-6`?

# %% [markdown] lang="zh"
# ## gradcheck 做了什么
#
# 它把每个输入向两边各推一小步 `eps`，算出斜率，再与你给出的比较。梯度错了会**抛出异常**（除非传入 `raise_exception=False`）。
# 推一小步需要足够的有效数字，所以要用 `float64`。下面计算 $x^3$ 在 2 处的数值斜率在不同 `eps` 下的误差。在 `float32` 里，
# `1e-2` 和 `1e-6` 哪个更好？

# %%
guess_better = ...


# %%
def numeric_error(eps, dtype):
    x = torch.tensor(2.0, dtype=dtype)
    eps = torch.tensor(eps, dtype=dtype)
    slope = ((x + eps) ** 3 - (x - eps) ** 3) / (2 * eps)
    return abs(slope.item() - 12.0)


better = min((1e-2, 1e-6), key=lambda eps: numeric_error(eps, torch.float32))
lesson.compare(guess_better, better)

scanner = gradviz.Cockpit()
for power in range(1, 13):
    errors = {"float32": torch.float32, "float64": torch.float64}
    logged = {
        name: torch.tensor(numeric_error(10.0**-power, dtype) + 1e-14).log10().item()
        for name, dtype in errors.items()
    }
    scanner.log(**logged)
scanner

# %% [markdown] lang="en"
# The curves are the error as a power of ten, for `eps` = 0.1, 0.01, … Too large an `eps`: the curve bends.
# Too small: the digits that
# differ are rounded away. The best `float32` can do is about $10^{-4}$ here; `float64` reaches $10^{-10}$.
#
# ## When the two must disagree
#
# A *straight-through estimator* rounds forward and pretends to be the identity backward. It is a lie on purpose. Does
# `gradcheck` accept it? Predict `"true"` or `"error"`.

# %% [markdown] lang="zh"
# 曲线画的是误差（以 10 为底的指数），`eps` 依次为 0.1、0.01……`eps` 太大，曲线弯曲带来误差；太小，有差别的那几位被舍入掉了。
# 这里 `float32` 最好也只能到 $10^{-4}$ 左右，`float64` 能到 $10^{-10}$。
#
# ## 有时两者就该不一致
#
# **直通估计器**前向时取整，反向时装作恒等函数，是有意为之的“谎言”。`gradcheck` 会接受它吗？请填 `"true"` 或 `"error"`。

# %%
guess_straight = ...


# %%
class Round(Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


x = torch.tensor([0.3, 1.8], dtype=torch.float64, requires_grad=True)
straight = outcome(Round.apply, x)
lesson.compare(guess_straight, straight)

# %% [markdown] lang="en"
# ## What a Function may declare
#
# Not every output has a derivative, and not every backward can be differentiated again. `mark_non_differentiable` and
# `once_differentiable` say so. `Largest` gives the largest entry and where it is. Predict: does `place` require grad?
# And is a second derivative `"true"` or an `"error"`?

# %% [markdown] lang="zh"
# ## Function 可以声明什么
#
# 不是每个输出都有导数，也不是每个 backward 都能再求导。`mark_non_differentiable` 和 `once_differentiable` 就是用来说明这些的。
# `Largest` 给出最大的元素和它的位置。请预测：`place` 需要梯度吗？求二阶导数会得到 `"true"` 还是 `"error"`？

# %%
guess_place = ...
guess_twice = ...

# %%
from gradviz.autograd.function import once_differentiable


class Largest(Function):
    @staticmethod
    def forward(ctx, x):
        place = x.argmax()
        ctx.mark_non_differentiable(place)
        ctx.save_for_backward(place)
        ctx.shape = x.shape
        return x[place], place

    @staticmethod
    @once_differentiable
    def backward(ctx, grad, _):
        (place,) = ctx.saved_tensors
        found = torch.zeros(ctx.shape)
        found[place] = grad
        return found


x = torch.tensor([1.0, 5.0, 2.0], requires_grad=True)
value, place = Largest.apply(x)
(slope,) = torch.autograd.grad(value**2, x, create_graph=True)
try:
    slope.sum().backward()
    twice = "true"
except RuntimeError as error:
    print(error)
    twice = "error"
lesson.compare(guess_place, place.requires_grad)
lesson.compare(guess_twice, twice)

# %% [markdown] lang="en"
# ## What the engine refuses
#
# The engine checks what a `backward` returns: how many gradients, and of which shape.

# %% [markdown] lang="zh"
# ## 引擎拒绝什么
#
# 引擎会检查 `backward` 返回的东西：有几个梯度，形状是什么。


# %%
def returning(make):
    class Odd(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return make(grad)

    return Odd


makers = {
    "right": lambda g: g * 2,
    "None": lambda g: None,
    "two gradients": lambda g: (g, g),
    "wrong shape": lambda g: torch.ones(3),
}
for name, make in makers.items():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    try:
        returning(make).apply(x).sum().backward()
        print(f"{name:14}", x.grad)
    except RuntimeError as error:
        print(f"{name:14}", error)


class Forward(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2


try:
    Forward.apply(torch.ones(2, requires_grad=True)).sum().backward()
except NotImplementedError as error:
    print(error)

# %% [markdown] lang="en"
# ## Exercise 1
#
# Write the Function `Softplus`: $\log(1 + e^x)$, whose derivative is the sigmoid. Save one tensor.

# %% [markdown] lang="zh"
# ## 练习 1
#
# 写出 Function `Softplus`：$\log(1 + e^x)$，它的导数是 sigmoid。只保存一个张量。


# %% exercise=1
class Softplus(Function):
    @staticmethod
    def forward(ctx, x):
        return x * ...

    @staticmethod
    def backward(ctx, grad):
        return ...


# %%
@lesson.check(1)
def check_softplus(want):
    x = torch.tensor([-1.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = Softplus.apply(x)
    want.value(y, torch.log1p(torch.exp(x)).tolist())
    want.nodes(y, SoftplusBackward=1)
    want.value(len(y.grad_fn.saved_tensors), 1)
    want.that(gradcheck(Softplus.apply, (x,)))


# %% solution=1
class Softplus(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log1p(torch.exp(x))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.sigmoid(x)


# %% wrong=1
class Softplus(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log1p(torch.exp(x))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return torch.sigmoid(x)


# %% wrong=1
class Softplus(Function):
    @staticmethod
    def forward(ctx, x):
        return torch.log1p(torch.exp(x))

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.sigmoid(x)


# %% [markdown] lang="en"
# ## Exercise 2
#
# Several inputs, one of them a plain number: `Scale.apply(x, w, factor)` is `x * w * factor`. `factor` has no
# gradient. Use
# `ctx.needs_input_grad` so that a gradient nobody wants is not computed (return `None` for it).

# %% [markdown] lang="zh"
# ## 练习 2
#
# 有几个输入，其中一个是普通数字：`Scale.apply(x, w, factor)` 等于 `x * w * factor`，`factor` 没有梯度。请利
# 用 `ctx.needs_input_grad`，
# 不去计算没人要的梯度（返回 `None`）。


# %% exercise=2
class Scale(Function):
    @staticmethod
    def forward(ctx, x, w, factor):
        return x * ...

    @staticmethod
    def backward(ctx, grad):
        return ...


# %%
@lesson.check(2)
def check_scale(want):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    want.value(Scale.apply(x, w, 10.0), [30.0, 80.0])
    want.that(gradcheck(lambda x, w: Scale.apply(x, w, 0.5), (x, w)))
    seen = []
    y = Scale.apply(x, w.detach(), 2.0)
    y.grad_fn.register_hook(lambda inputs, outputs: seen.extend(inputs))
    y.sum().backward()
    want.grad(x, [6.0, 8.0])
    want.that([g is None for g in seen][:2] == [False, True])


# %% solution=2
class Scale(Function):
    @staticmethod
    def forward(ctx, x, w, factor):
        ctx.save_for_backward(x, w)
        ctx.factor = factor
        return x * w * factor

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        needs_x, needs_w, _ = ctx.needs_input_grad
        scaled = grad * ctx.factor
        return scaled * w if needs_x else None, scaled * x if needs_w else None, None


# %% wrong=2
class Scale(Function):
    @staticmethod
    def forward(ctx, x, w, factor):
        ctx.save_for_backward(x, w)
        ctx.factor = factor
        return x * w * factor

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad * ctx.factor * w, grad * ctx.factor * x


# %% wrong=2
class Scale(Function):
    @staticmethod
    def forward(ctx, x, w, factor):
        ctx.save_for_backward(x, w)
        return x * w * factor

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad * w, grad * x, None


# %% [markdown] lang="en"
# ## Exercise 3
#
# Make `Cube` from above **twice** differentiable cheaply: save nothing but `x`, and let the backward consist
# of operations that autograd
# can record. It does already! Show it: write `second(x)`, the second derivative of `Cube` at the vector `x`,
# and `proved(x)`,
# whether `gradgradcheck` agrees.

# %% [markdown] lang="zh"
# ## 练习 3
#
# 上面的 `Cube` 能不能求**两次**导？只要它的反向由自动微分能记录的运算组成就可以，而它本来就是。请证明这一点：写出 `second(x)`，
# 即 `Cube` 在向量 `x` 处的二阶导数；再写出 `proved(x)`，说明 `gradgradcheck` 是否同意。


# %% exercise=3
def second(x):
    return ...


def proved(x):
    return ...


# %%
@lesson.check(3)
def check_second(want):
    x = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    want.value(second(x), [6.0, -12.0])
    want.value(proved(x), True)
    want.grad(x, None)


# %% solution=3
def second(x):
    (first,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)[0]


def proved(x):
    return gradgradcheck(Cube.apply, (x,))


# %% wrong=3
def second(x):
    return torch.autograd.grad(Cube.apply(x).sum(), x)[0]


def proved(x):
    return gradgradcheck(Cube.apply, (x,))


# %% wrong=3
def second(x):
    (first,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)[0]


def proved(x):
    return gradcheck(Cube.apply, (x,), raise_exception=False) == "proved"


# %% [markdown] lang="en"
# ## Exercise 4: repair
#
# This Function broadcasts `b` over the rows of `x`. Its backward returns a gradient of the wrong shape for
# `b`, and it keeps `x` on `ctx` as an
# attribute: then nobody checks whether `x` was changed in place meanwhile. Repair both.

# %% [markdown] lang="zh"
# ## 练习 4：修复
#
# 这个 Function 把 `b` 广播到 `x` 的每一行。它的反向为 `b` 返回了形状不对的梯度；而且它把 `x` 直接存成 `ctx` 的属性，
# 这样就没有人检查
# `x` 是否在中途被就地修改过。两处都请修复。


# %% exercise=4
class Affine(Function):
    @staticmethod
    def forward(ctx, x, b):
        ctx.x = x
        return x**2 + b

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.x, grad


# %%
@lesson.check(4)
def check_affine(want):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([0.5, 0.5], dtype=torch.float64, requires_grad=True)
    want.that(gradcheck(Affine.apply, (x, b)))
    h = x * 1.0
    y = Affine.apply(h, b).sum()
    h.mul_(2.0)
    want.raises(y.backward, RuntimeError, "modified by an inplace operation")


# %% solution=4
class Affine(Function):
    @staticmethod
    def forward(ctx, x, b):
        ctx.save_for_backward(x)
        return x**2 + b

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x, grad.sum(0)


# %% wrong=4
class Affine(Function):
    @staticmethod
    def forward(ctx, x, b):
        ctx.x = x
        return x**2 + b

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.x, grad.sum(0)


# %% wrong=4
class Affine(Function):
    @staticmethod
    def forward(ctx, x, b):
        ctx.save_for_backward(x)
        return x**2 + b

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x, grad.mean(0)


# %% [markdown] lang="en"
# ## What stays
#
# - `save_for_backward` in `forward`, `saved_tensors` in `backward`, one gradient an input. Numbers may go on
#   `ctx`, tensors belong into `save_for_backward`.
# - `gradcheck` in `float64` proves the first derivative, `gradgradcheck` the second. A wrong one raises.
# - A straight-through estimator fails the check, and should.

# %% [markdown] lang="zh"
# ## 小结
#
# - `forward` 里用 `save_for_backward`，`backward` 里用 `saved_tensors`，每个输入返回一个梯度。数字可以放在 `ctx` 上，
#   张量应交给 `save_for_backward`。
# - 用 `float64` 的 `gradcheck` 验证一阶导数，用 `gradgradcheck` 验证二阶导数。错了会抛出异常。
# - 直通估计器通不过检查，也本该如此。

# %%
lesson
