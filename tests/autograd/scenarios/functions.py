# === a function with saved tensors, double backward through it
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Cube.apply(x)
tell(type(y.grad_fn).__name__, y.grad_fn.name(), y.requires_grad)
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)


# === setup_context style
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(x, k):
        return x * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, k = inputs
        ctx.k = k
        tell(ctx.needs_input_grad, output)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
Scale.apply(x, 3).sum().backward()


# === too few gradients
class Few(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + b

    @staticmethod
    def backward(ctx, g):
        return g


x = torch.tensor([1.0, 2.0], requires_grad=True)
Few.apply(x, x).sum().backward()


# === too many gradients, and trailing Nones that are allowed
class Many(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1

    @staticmethod
    def backward(ctx, g):
        return g, g


class Nones(Many):
    @staticmethod
    def backward(ctx, g):
        return g, None, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
Many.apply(x).sum().backward()
Nones.apply(x).sum().backward()


# === a gradient for an input that is not a tensor
class NonTensor(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, k):
        return a * k

    @staticmethod
    def backward(ctx, g):
        return g, g


x = torch.tensor([1.0, 2.0], requires_grad=True)
NonTensor.apply(x, 2).sum().backward()


# === a gradient that is no tensor
class Number(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return 3.0


x = torch.tensor([1.0, 2.0], requires_grad=True)
Number.apply(x).sum().backward()


# === None for an input that wants a gradient
class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return None


x = torch.tensor([1.0, 2.0], requires_grad=True)
Nothing.apply(x).sum().backward()
tell(x.grad)
torch.autograd.grad(Nothing.apply(x).sum(), x)
torch.autograd.grad(Nothing.apply(x * 2).sum(), x, allow_unused=True)


# === gradient of a wrong shape, one that broadcasts, another dtype
class Shape(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, how):
        ctx.how = how
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return ctx.how(g), None


x = torch.tensor([1.0, 2.0], requires_grad=True)
Shape.apply(x, lambda g: torch.ones(3)).sum().backward()
Shape.apply(x, lambda g: torch.ones(5, 2)).sum().backward()
tell(x.grad)
Shape.apply(x, lambda g: torch.ones(())).sum().backward()
Shape.apply(x, lambda g: torch.ones(2, dtype=torch.float64)).sum().backward()
tell(x.grad)
Shape.apply(x, lambda g: torch.ones(2, dtype=torch.int64)).sum().backward()


# === no backward
class Forward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Forward.apply(x)
y.sum().backward()


# === no forward
class Backward(torch.autograd.Function):
    @staticmethod
    def backward(ctx, g):
        return g


Backward.apply(torch.ones(2))


# === legacy use
class Legacy(torch.autograd.Function):
    def forward(self, a):
        return a * 2

    def backward(self, g):
        return g


Legacy()(torch.ones(2))
Legacy.apply(torch.ones(2, requires_grad=True))


# === instance and call
class Static(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g


f = Static()
f(torch.ones(2))
Static.forward(None, torch.ones(2))


# === forward returns no tensor
class Odd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, what):
        return what

    @staticmethod
    def backward(ctx, g):
        return g, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
tell(Odd.apply(x, 5))
tell(Odd.apply(x, None))
tell(Odd.apply(x, "text"))
y, n = Odd.apply(x, (x * 1, 7))
tell(y.requires_grad, n)
tell(type(Odd.apply(x, [x * 1])).__name__)


# === several outputs, some unused
class Two(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2, a * 3

    @staticmethod
    def backward(ctx, g, h):
        tell(g, h)
        return g * 2 + h * 3


x = torch.tensor([1.0, 2.0], requires_grad=True)
a, b = Two.apply(x)
tell(a.output_nr, b.output_nr, a.grad_fn is b.grad_fn)
b.sum().backward()


# === undefined gradients are not materialised
class Raw(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.set_materialize_grads(False)
        return a * 2, a * 3

    @staticmethod
    def backward(ctx, g, h):
        tell(g, h)
        return g * 2 if g is not None else h * 3


x = torch.tensor([1.0, 2.0], requires_grad=True)
a, b = Raw.apply(x)
b.sum().backward()


# === all gradients undefined
class Probe(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, materialize):
        ctx.set_materialize_grads(materialize)
        return a * 2

    @staticmethod
    def backward(ctx, g):
        tell("probe", g)
        return g, None


class Stop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return None


x = torch.tensor([1.0, 2.0], requires_grad=True)
Stop.apply(Probe.apply(x, True)).sum().backward()
Stop.apply(Probe.apply(x, False)).sum().backward()
Stop.apply(Probe.apply(x, True) * 2).sum().backward()


# === non-differentiable and integer outputs
class Parts(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        mask, index, value = a > 0, torch.tensor([1, 0]), a * 2
        same = a * 3
        ctx.mark_non_differentiable(mask, same)
        return mask, index, value, same

    @staticmethod
    def backward(ctx, *gs):
        tell(gs)
        return gs[2]


x = torch.tensor([1.0, -2.0], requires_grad=True)
m, i, v, s = Parts.apply(x)
tell([t.requires_grad for t in (m, i, v, s)], [t.grad_fn is None for t in (m, i, v, s)])
v.sum().backward()


# === needs_input_grad
class Needs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, k, b):
        tell("forward", ctx.needs_input_grad)
        return a + b

    @staticmethod
    def backward(ctx, g):
        tell("backward", ctx.needs_input_grad)
        return g, None, g


x = torch.tensor([1.0, 2.0], requires_grad=True)
Needs.apply(x, 1, torch.ones(2)).sum().backward()
with torch.no_grad():
    y = Needs.apply(x, 1, x)
tell(y.requires_grad)


# === marked dirty
class Inplace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        a.mul_(2)
        ctx.mark_dirty(a)
        return a

    @staticmethod
    def backward(ctx, g):
        return g * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
y = Inplace.apply(h)
tell(y is h, h._version, type(h.grad_fn).__name__)
y.sum().backward()
Inplace.apply(x)
v = (x * 3)[:1]
Inplace.apply(v)
w = torch.ones(2)
z = Inplace.apply(w)
tell(z is w, w._version, w.requires_grad)


# === dirty view, its base and backward
class Inplace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
        return a.mul_(5)

    @staticmethod
    def backward(ctx, g):
        return g * 5


x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
v = h[:1]
Inplace.apply(v)
tell(type(h.grad_fn).__name__, type(v.grad_fn).__name__)
h.sum().backward()


# === dirty but not returned, dirty and not an input
class Lost(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g


class Foreign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        b = torch.ones(2)
        ctx.mark_dirty(b)
        return b

    @staticmethod
    def backward(ctx, g):
        return g


x = torch.tensor([1.0, 2.0], requires_grad=True)
Lost.apply(x * 1)
Foreign.apply(x)


# === misuse of mark_ and save_for_backward
class Misuse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, what):
        what(ctx, a)
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
Misuse.apply(x, lambda ctx, a: ctx.save_for_backward(5))
Misuse.apply(x, lambda ctx, a: ctx.save_for_backward([a]))
Misuse.apply(x, lambda ctx, a: ctx.mark_dirty(5))
Misuse.apply(x, lambda ctx, a: ctx.mark_non_differentiable(5))
Misuse.apply(x, lambda ctx, a: ctx.save_for_forward(5))
Misuse.apply(x, lambda ctx, a: ctx.save_for_backward(None, a))


# === outputs that are inputs
class Identity(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a

    @staticmethod
    def backward(ctx, g):
        return g * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Identity.apply(x)
tell(y is x, y.requires_grad, type(y.grad_fn).__name__, y._is_view())
y.sum().backward()
h = x * 3
z = Identity.apply(h)
tell(z is h, z._is_view(), type(z.grad_fn).__name__)
z.mul_(2)
w = torch.ones(2)
tell(Identity.apply(w) is w)


# === a view of an input
class View(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a.view(-1)

    @staticmethod
    def backward(ctx, g):
        return g.view(1, 2) * 2


x = torch.tensor([[1.0, 2.0]], requires_grad=True)
y = View.apply(x)
tell(y._is_view(), type(y.grad_fn).__name__, y.requires_grad)
y.sum().backward()
y.mul_(2)
(View.apply(x * 1)).mul_(2)


# === two views out
class Views(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a[:1], a[1:]

    @staticmethod
    def backward(ctx, g, h):
        return torch.cat([g, h])


x = torch.tensor([1.0, 2.0], requires_grad=True)
a, b = Views.apply(x * 1)
tell(a._is_view(), b._is_view())
a.mul_(2)


# === saved output and saved input, freed and read after
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        r = a.exp()
        ctx.save_for_backward(a, r)
        return r

    @staticmethod
    def backward(ctx, g):
        a, r = ctx.saved_tensors
        tell(a.requires_grad, r.requires_grad, type(r.grad_fn).__name__)
        return g * r


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Exp.apply(x)
tell(len(y.grad_fn.saved_tensors))
y.sum().backward()
y.sum().backward()
y.grad_fn.saved_tensors


# === a saved tensor modified afterwards
class Save(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        r = a * 2
        ctx.save_for_backward(a, r)
        return r

    @staticmethod
    def backward(ctx, g):
        a, r = ctx.saved_tensors
        return g * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 1
y = Save.apply(h)
h.add_(1)
y.sum().backward()
z = Save.apply(x)
z.add_(1)
z.sum().backward()
# === once_differentiable
once_differentiable = torch.autograd.function.once_differentiable


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        tell(torch.is_grad_enabled(), g.requires_grad)
        return g * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
Once.apply(x).sum().backward()
s = torch.tensor(1.0, requires_grad=True)
(g,) = torch.autograd.grad((Once.apply(x) * s).sum(), x, create_graph=True)
tell(g.requires_grad)
g.sum().backward()


# === attributes of ctx
class Attributes(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, k):
        ctx.k, ctx.note = k, "kept"
        return a * k

    @staticmethod
    def backward(ctx, g):
        tell(ctx.k, ctx.note, ctx.name(), type(ctx).__name__, ctx.needs_input_grad)
        return g * ctx.k, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Attributes.apply(x, 4)
tell(y.grad_fn.k, len(y.grad_fn.next_functions), len(y.grad_fn.metadata))
y.sum().backward()


# === nested functions
class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return g * 2 * a


class Outer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        with torch.enable_grad():
            ctx.a = a.detach().requires_grad_()
            ctx.r = Inner.apply(ctx.a)
        return ctx.r.detach()

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            ctx.r.backward(g)
        return ctx.a.grad


x = torch.tensor([1.0, 2.0], requires_grad=True)
Outer.apply(x).sum().backward()


# === grad mode inside forward and backward
class Modes(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        tell("forward", torch.is_grad_enabled(), (a * 1).requires_grad, a.requires_grad)
        return a * 2

    @staticmethod
    def backward(ctx, g):
        tell("backward", torch.is_grad_enabled())
        return g * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
Modes.apply(x).sum().backward()
g = torch.autograd.grad(Modes.apply(x).sum(), x, create_graph=True)


# === an error in forward or backward leaves all as it was
class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, when):
        ctx.when = when
        if when == "forward":
            raise KeyError("forward")
        return a * 2

    @staticmethod
    def backward(ctx, g):
        raise KeyError("backward")


x = torch.tensor([1.0, 2.0], requires_grad=True)
Fails.apply(x, "forward")
tell(torch.is_grad_enabled())
Fails.apply(x, "backward").sum().backward()
tell(torch.is_grad_enabled(), x.grad)


# === keyword arguments
class Keyword(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, k=2):
        return a * k

    @staticmethod
    def backward(ctx, g):
        return g, None


Keyword.apply(torch.ones(2), k=3)


# === vjp instead of backward, both
class Vjp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def vjp(ctx, g):
        return g * 2


class Both(Vjp):
    @staticmethod
    def backward(ctx, g):
        return g


x = torch.tensor([1.0, 2.0], requires_grad=True)
Vjp.apply(x).sum().backward()
Both.apply(x).sum().backward()


# === ctx.saved_tensors in forward, saving twice
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        ctx.save_for_backward(a, a)
        return a * 2

    @staticmethod
    def backward(ctx, g):
        tell(len(ctx.saved_tensors))
        return g


x = torch.tensor([1.0, 2.0], requires_grad=True)
Twice.apply(x).sum().backward()


# === nested containers are not looked into
class Nested(torch.autograd.Function):
    @staticmethod
    def forward(ctx, pair):
        return pair[0] * 2

    @staticmethod
    def backward(ctx, g):
        return None


x = torch.tensor([1.0, 2.0], requires_grad=True)
tell(Nested.apply((x, 1)).requires_grad)


# === the same tensor twice
class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + b

    @staticmethod
    def backward(ctx, g):
        return g, g * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
Add.apply(x, x).sum().backward()


# === a function that returns its saved input in two places
class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        b = a * 2
        return b, b

    @staticmethod
    def backward(ctx, g, h):
        tell(g, h)
        return g + h


x = torch.tensor([1.0, 2.0], requires_grad=True)
a, b = Same.apply(x)
tell(a is b, a.output_nr, b.output_nr)
(a * 2 + b * 3).sum().backward()


# === hooks on a function's node
class Plain(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Plain.apply(x)
y.grad_fn.register_hook(note("post"))
y.grad_fn.register_prehook(note("pre"))
y.register_hook(note("tensor"))
y.retain_grad()
y.sum().backward()


# === complex and real gradients
class Real(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1

    @staticmethod
    def backward(ctx, g):
        return g * (1 + 1j)


x = torch.tensor([1.0, 2.0], requires_grad=True)
Real.apply(x).sum().backward()
