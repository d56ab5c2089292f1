# === pack and unpack
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(
    lambda t: tell("pack", t, t.requires_grad, t.is_leaf) or t * 2, lambda t: tell("unpack", t) or t
):
    y = (x * w).sum()
    z = y.exp()
z.backward()
# === unpack is called at each reading
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: tell("unpack") or t):
    y = x.exp()
y.grad_fn._saved_result
y.grad_fn._saved_result
y.sum().backward()
y.grad_fn._saved_result
# === nested: the innermost is used
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: tell("outer") or t, lambda t: t):
    a = x * x
    with torch.autograd.graph.saved_tensors_hooks(lambda t: tell("inner") or t, lambda t: t):
        b = x * x
    c = x * x
(a + b + c).sum().backward()
# === unpack returns no tensor, pack raises, unpack raises
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: 5, lambda n: n):
    y = x * x
y.sum().backward()


def fails(t):
    raise ValueError("in the hook")


with torch.autograd.graph.saved_tensors_hooks(fails, lambda t: t):
    z = x * x
tell(torch.is_grad_enabled())
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, fails):
    u = x * x
u.sum().backward()
tell(x.grad)
# === a hook that modifies in place
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 1
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
    y = h * h
# === per-tensor hooks
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.sin()
saved = y.grad_fn._raw_saved_self
tell(type(saved).__name__)
saved.register_hooks(lambda t: tell("pack", t) or t, lambda t: tell("unpack", t) or t * 0)
saved.register_hooks(lambda t: t, lambda t: t)
y.sum().backward()
saved.register_hooks(lambda t: t, lambda t: t)
# === per-tensor hooks on a result
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
y.grad_fn._raw_saved_result.register_hooks(
    lambda t: tell("pack", t.requires_grad) or t, lambda t: tell("unpack") or t
)
y.sum().backward()
# === per-tensor hooks on nothing and with bad arguments
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
z = x * x
z.grad_fn._raw_saved_self.register_hooks(lambda t: t)
z.grad_fn._raw_saved_self.register_hooks(lambda: 1, lambda t: t)
# === per-tensor hooks over default hooks
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    y = x * x
y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
# === a pack hook that modifies in place, per tensor
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 1
y = h * h
y.grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), lambda t: t)
# === disabled
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    tell((x * x).requires_grad)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    with torch.autograd.graph.disable_saved_tensors_hooks("inside"):
        pass


@torch.autograd.graph.disable_saved_tensors_hooks("decorated")
def f():
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


f()
# === save_on_cpu
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.save_on_cpu():
    y = x * x * x
y.sum().backward()
# === in-place after packing is not noticed when a copy was packed
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 1
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
    y = h * h
h.add_(10)
y.sum().backward()
# === in-place after packing the tensor itself
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 1
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
    y = h * h
h.add_(10)
y.sum().backward()


# === hooks and a function
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a

    @staticmethod
    def backward(ctx, g):
        (a,) = ctx.saved_tensors
        return g * 2 * a


x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(
    lambda t: tell("pack", t) or t, lambda t: tell("unpack") or t
):
    y = Square.apply(x)
y.sum().backward()
y = Square.apply(x)
y.grad_fn._raw_saved_tensors[0].register_hooks(
    lambda t: tell("p") or t, lambda t: tell("u") or t * 10
)
y.sum().backward()
# === double backward through packed tensors
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
    y = x * x * x
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
(d,) = torch.autograd.grad(g.sum(), x)
# === saved attributes
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
tell(y.grad_fn._saved_self, y.grad_fn._saved_other is None)
z = x.exp()
tell(z.grad_fn._saved_result is z, z.grad_fn._saved_result)
p = x**2
tell(p.grad_fn._saved_self is x, p.grad_fn._saved_exponent)
p.sum().backward()
p.grad_fn._saved_self
tell(p.grad_fn._saved_exponent)
p.grad_fn._saved_nothing
# === modified saved attribute
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 1
y = h * h
h.add_(1)
y.grad_fn._saved_self
# === allow_mutation_on_saved_tensors
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    h = x * 1
    y = (h**2).sum()
    h.add_(10)
    y.backward()
tell(x.grad)
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    h = x * 1
    y = (h**2).sum()
    h.add_(10)
    ctx.clear()
    y.backward()
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    h = x * 1
    y = (h**2).sum()
    h.add_(10)
y.backward()
with torch.autograd.graph.allow_mutation_on_saved_tensors() as ctx:
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as inner:
        pass
# === increment_version
x = torch.ones(2)
torch.autograd.graph.increment_version(x)
torch.autograd.graph.increment_version([x, x])
tell(x._version)
with torch.inference_mode():
    i = torch.ones(2)
torch.autograd.graph.increment_version(i)
h = torch.ones(2, requires_grad=True) * 1
y = h * h
torch.autograd.graph.increment_version(h)
y.sum().backward()
