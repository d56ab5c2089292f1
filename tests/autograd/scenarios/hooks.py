# === tensor hooks run in the order of registration, each with what the one before gave
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.register_hook(note("first", lambda g: g * 2))
h.register_hook(note("second", lambda g: g + 1))
h.register_hook(note("third"))
h.sum().backward()
# === hooks, retained gradient, prehook and capture in one node
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.grad_fn.register_prehook(note("pre", lambda gs: (gs[0] * 10,)))
h.register_hook(note("tensor", lambda g: g * 2))
h.retain_grad()
h.register_hook(note("tensor later", lambda g: g + 1))
h.grad_fn.register_hook(note("post"))
h.sum().backward()
tell(h.grad)
# === a captured gradient of a node that is not run further
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.register_hook(note("tensor", lambda g: g * 2))
h.grad_fn.register_prehook(note("pre", lambda gs: (gs[0] * 10,)))
h.grad_fn.register_hook(note("post"))
h.retain_grad()
tell(torch.autograd.grad(h.sum(), h))
tell(h.grad)
# === a captured gradient of a node that is run further
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.register_hook(note("tensor", lambda g: g * 2))
h.grad_fn.register_prehook(note("pre", lambda gs: (gs[0] * 10,)))
h.retain_grad()
tell(torch.autograd.grad(h.sum(), [h, x]))
tell(h.grad)
# === leaf: tensor hook, prehook, accumulation, post-accumulate hook, posthook
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
acc = y.grad_fn.next_functions[0][0]
acc.register_hook(note("post"))
acc.register_prehook(note("pre", lambda gs: (gs[0] * 10,)))
x.register_post_accumulate_grad_hook(note("accumulated"))
x.register_hook(note("tensor", lambda g: g + 1))
y.sum().backward()
# === a hook of a leaf that autograd.grad does not ask for is not called
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
x.register_hook(note("x"))
w.register_hook(note("w"))
h = x * w
h.register_hook(note("h"))
tell(torch.autograd.grad(h.sum(), w))
# === backward(inputs=...) calls the hooks on the way and keeps the gradient of results
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
h = x.exp()
h.register_hook(note("h"))
h.grad_fn.register_hook(note("ran"))
y = h * w
y.sum().backward(inputs=[h, w])
y = h.sin()
y.sum().backward(inputs=[h])
# === backward(inputs=[result]) runs its node
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x.exp()
h.sum().backward(inputs=[h])
h.sum().backward()
# === a hook that removes itself
x = torch.tensor([1.0, 2.0], requires_grad=True)
handle = x.register_hook(lambda g: handle.remove() or tell("once", g))
x.register_hook(note("always"))
(x * 2).sum().backward()
(x * 3).sum().backward()
# === a hook that removes the next one
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 1
h.register_hook(lambda g: later.remove())
later = h.register_hook(note("later"))
h.sum().backward()
# === a hook that adds one
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 1
h.register_hook(lambda g: h.register_hook(note("added")) and None)
h.sum().backward(retain_graph=True)
h.sum().backward()
# === hooks from before an in-place operation stay with the old node
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.register_hook(note("before"))
h.mul_(2)
h.register_hook(note("after"))
h.sum().backward()
# === retain_grad moves to the new node, hooks do not
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.retain_grad()
h.register_hook(note("before", lambda g: g * 5))
h.mul_(2)
h.sum().backward()
# === retain_grad of a view whose base is modified
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
v = h[:1]
v.retain_grad()
v.register_hook(note("old"))
h.mul_(2)
(h.sum() + v.sum() * 3).backward()
# === retain_grad of a base whose view is modified
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.retain_grad()
v = h[:1]
v.mul_(2)
(h.sum() + v.sum() * 3).backward()
# === retain_grad twice, on a leaf, on an untracked tensor
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.retain_grad()
h = x * 3
h.retain_grad()
h.retain_grad()
h.sum().backward(retain_graph=True)
tell(h.grad)
h.sum().backward()
tell(h.grad)
torch.ones(2).retain_grad()
tell(x.retains_grad, h.retains_grad)
# === retain_grad with a hook that replaces the gradient later
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.retain_grad()
h.register_hook(lambda g: g * 2)
h.sum().backward()
# === a hook that returns a tensor of another size
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda g: g[:1])
(x * 1).sum().backward()
# === a hook that returns another dtype
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda g: g.double())
(x * 1).sum().backward()
# === a hook that returns no tensor
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda g: 3)
(x * 1).sum().backward()


# === a named hook that returns another size
def shrinking(g):
    return g.sum()


x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 1
h.register_hook(shrinking)
h.sum().backward()
# === hooks on what requires no gradient
torch.ones(2).register_hook(print)
torch.ones(2).register_post_accumulate_grad_hook(print)
(torch.ones(2, requires_grad=True) * 1).register_post_accumulate_grad_hook(print)
# === a handle as a context
x = torch.tensor([1.0, 2.0], requires_grad=True)
with x.register_hook(note("inside")):
    (x * 2).sum().backward()
(x * 2).sum().backward()
# === node hooks: what comes and goes
x = torch.tensor([1.0, 2.0], requires_grad=True)
c = torch.tensor([5.0, 6.0])
y = x * c
y.grad_fn.register_hook(note("post"))
y.grad_fn.register_prehook(note("pre"))
y.sum().backward()
# === node hooks replace gradients
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * w
y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, None))
y.grad_fn.register_hook(note("second"))
y.sum().backward()
# === a node hook that returns too many
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.grad_fn.register_hook(lambda gi, go: (gi[0], None, None))
y.sum().backward()
# === a node hook that returns a single tensor
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
y.grad_fn.register_hook(lambda gi, go: gi[0] * 2)
y.sum().backward()
# === a node hook that returns a number
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
y.grad_fn.register_hook(lambda gi, go: (3,))
y.sum().backward()
# === a prehook that returns too many
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
y.grad_fn.register_prehook(lambda go: (go[0], go[0]))
y.sum().backward()
# === a prehook that returns a single tensor
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
y.grad_fn.register_prehook(lambda go: go[0] * 2)
y.sum().backward()
# === a hook that raises
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([1.0, 2.0], requires_grad=True)


def fails(g):
    raise ValueError("in the hook")


h = x * w
h.register_hook(fails)
(h * w).sum().backward()
(x * w).sum().backward()
# === hooks with create_graph see gradients that are tracked
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * x
h.register_hook(lambda g: tell("h", g.requires_grad, torch.is_grad_enabled()))
x.register_hook(lambda g: tell("x", g.requires_grad, torch.is_grad_enabled()))
h.square().sum().backward(retain_graph=True)
(g,) = torch.autograd.grad(h.square().sum(), x, create_graph=True)
# === a hook that modifies the gradient in place
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.register_hook(lambda g: g.mul_(2) and None if False else None)
h.register_hook(lambda g: (g.mul_(2), None)[1])
h.sum().backward()
# === hooks of several outputs of one node
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
a, b, c = x.unbind()
a.register_hook(note("a"))
c.register_hook(note("c"))
b.register_hook(note("b"))
a.grad_fn.register_prehook(note("pre"))
a.grad_fn.register_hook(note("post"))
(a * 2 + c * 3).backward()
# === multi-gradient hook, all
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([1.0, 2.0], requires_grad=True)
u = torch.tensor([1.0, 2.0], requires_grad=True)
handle = torch.autograd.graph.register_multi_grad_hook((x, w, u), note("all"))
(x * w).sum().backward()
(x * w * u).sum().backward()
torch.autograd.grad((x * w).sum(), x)
handle.remove()
(x * w * u).sum().backward()
# === multi-gradient hook, any
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([1.0, 2.0], requires_grad=True)
torch.autograd.graph.register_multi_grad_hook((x, w), note("any"), mode="any")
(x * w).sum().backward()
(x.exp() * w).sum().backward()
# === multi-gradient hook: misuse
x = torch.tensor([1.0, 2.0], requires_grad=True)
torch.autograd.graph.register_multi_grad_hook((x,), note("some"), mode="some")
torch.autograd.graph.register_multi_grad_hook((x, torch.ones(2)), note("mixed"))
torch.autograd.graph.register_multi_grad_hook((torch.ones(2),), note("none"), mode="any")
(x * 2).sum().backward()
# === multi-gradient hook on results, and a failing sweep between two good ones
x = torch.tensor([1.0, 2.0], requires_grad=True)
h, k = x * 2, x * 3
torch.autograd.graph.register_multi_grad_hook((h, k), note("both"))


def fails(g):
    raise ValueError("stop")


with x.register_hook(fails):
    (h + k).sum().backward()
(h + k).sum().backward()
h.sum().backward()
# === post-accumulate hook may change the leaf and drop its gradient
x = torch.tensor([1.0, 2.0], requires_grad=True)


def step(p):
    with torch.no_grad():
        p -= 0.1 * p.grad
    p.grad = None


x.register_post_accumulate_grad_hook(step)
(x * x).sum().backward()
tell(x, x.grad)
# === hooks are found in the table
x = torch.tensor([1.0, 2.0], requires_grad=True)
tell(x._backward_hooks is None)
handle = x.register_hook(note("x"))
tell(len(x._backward_hooks))
handle.remove()
tell(len(x._backward_hooks))
# === AccumulateGrad: the same object, its variable
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
acc = y.grad_fn.next_functions[0][0]
tell(acc.variable is x, acc is (x * 3).grad_fn.next_functions[0][0], acc.name(), acc.next_functions)
# === hooks after detach_
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
h.register_hook(note("old"))
h.detach_()
tell(h.requires_grad, h.is_leaf, h.grad_fn is None)
h.requires_grad_()
(h * 2).sum().backward()


# === a hook on an undefined gradient
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a + b

    @staticmethod
    def backward(ctx, g):
        return g, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
a, b = x * 2, x * 3
b.register_hook(note("b"))
b.grad_fn.register_prehook(note("pre b"))
b.grad_fn.register_hook(note("post b"))
Half.apply(a, b).sum().backward()
# === gradients in hooks when the same tensor is used twice
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 2
h.register_hook(note("h"))
(h * h + h).sum().backward()
# === hook on a root
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * 2).sum()
y.register_hook(note("root", lambda g: g * 4))
y.retain_grad()
y.backward()
tell(y.grad)
# === hooks on a leaf that is a root
x = torch.tensor(2.0, requires_grad=True)
x.register_hook(note("leaf"))
x.register_post_accumulate_grad_hook(note("done"))
x.backward()
tell(torch.autograd.grad(x, x))
# === hook handles in a dict of ids
x = torch.tensor([1.0, 2.0], requires_grad=True)
a, b = x.register_hook(note("a")), x.register_hook(note("b"))
tell(a.id < b.id)
a.remove()
a.remove()
(x * 1).sum().backward()
# === decorated hook registration
x = torch.tensor([1.0, 2.0], requires_grad=True)


@x.register_hook
def doubled(g):
    return g * 2


tell(type(doubled).__name__)
(x * 1).sum().backward()
# === hook that calls backward again
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([1.0, 2.0], requires_grad=True)


def again(g):
    with torch.enable_grad():
        (w * 3).sum().backward()
    tell("again", w.grad)


h = x * 2
h.register_hook(again)
(h * w).sum().backward()
# === order of leaves and nodes
x = torch.tensor([1.0], requires_grad=True)
w = torch.tensor([2.0], requires_grad=True)
b = torch.tensor([3.0], requires_grad=True)
for name, t in (("x", x), ("w", w), ("b", b)):
    t.register_hook(note(name))
h = x * w
h.register_hook(note("h"))
k = h + b
k.register_hook(note("k"))
y = k * w
y.sum().backward()
# === hooks see the sum once
x = torch.tensor([1.0], requires_grad=True)
x.register_hook(note("x"))
(x * 2 + x * 3 + x).sum().backward()
# === a hook on a view made under no_grad of a leaf
x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    v = x[:1]
tell(v.requires_grad, v.is_leaf)
v.register_hook(note("v"))
y = v * 2
tell(y.requires_grad, y.grad_fn.next_functions)
y.backward()
tell(v.grad, x.grad)
