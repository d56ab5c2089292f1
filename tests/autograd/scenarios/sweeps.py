# === errors of roots
x = torch.tensor([1., 2.], requires_grad=True)
torch.ones(1).backward()
(x * 2).backward()
(x * 2).backward(torch.ones(3))
(x * 2).backward(5)
(x * 2).backward(torch.ones(2, dtype=torch.complex64))
torch.autograd.backward([x.sum()], [torch.ones(()), torch.ones(())])
torch.autograd.backward([x.sum(), x * 2])
torch.autograd.backward((x * 2).sum(), inputs=[])
(x * 2).sum().backward(inputs=[torch.ones(2)])
(torch.view_as_complex(torch.ones(1, 2, requires_grad=True))).backward()
x.sum().backward(torch.ones(1))
# === errors of autograd.grad
x = torch.tensor([1., 2.], requires_grad=True)
w = torch.tensor([1., 2.], requires_grad=True)
torch.autograd.grad((x * 2).sum(), w)
torch.autograd.grad((x * 2).sum(), [x, w])
torch.autograd.grad((x * 2).sum(), torch.ones(2))
torch.autograd.grad((x * 2).sum(), [])
torch.autograd.grad(x * 2, x)
torch.autograd.grad((x * 2).sum(), w, allow_unused=False, materialize_grads=True)
tell(torch.autograd.grad((x * 2).sum(), [x, w], allow_unused=True))
tell(torch.autograd.grad((x * 2).sum(), [x, w], materialize_grads=True))
torch.autograd.grad((x * 2).sum(), x, only_inputs=False)
tell(torch.autograd.grad([x * 2, w * 3], [x, w], [torch.ones(2), torch.ones(2) * 2]))
tell(torch.autograd.grad([x.sum(), w.sum()], [x, w], [None, torch.tensor(5.)]))
torch.autograd.grad([x * 2, w.sum()], [x, w], [None, None])
# === batched gradients
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x ** 2
tell(torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True))
tell(torch.autograd.grad(y.sum(), x, torch.ones(2), is_grads_batched=True, retain_graph=True))
torch.autograd.grad(y, x, torch.ones(3), is_grads_batched=True)
# === second backward
x = torch.tensor([1., 2.], requires_grad=True)
y = (x * x).sum()
y.backward()
y.backward()
z = (x * 3).sum()
z.backward()
z.backward()
k = (x * x).sum()
k.backward(retain_graph=True)
k.backward()
k.backward()
(x + 1).sum().backward()
s = (x + 1).sum()
s.backward()
s.backward()
# === roots that are interior of one another
x = torch.tensor([1., 2.], requires_grad=True)
h = x * 2
y = h * 3
torch.autograd.backward([y, h], [torch.ones(2), torch.ones(2) * 10])
tell(x.grad)
# === gradient edges
x = torch.tensor([1., 2.], requires_grad=True)
h = x * 2
y = (h * h).sum()
e = torch.autograd.graph.get_gradient_edge(h)
tell(e.output_nr, e.node is h.grad_fn, len(e))
tell(torch.autograd.grad(y, e, retain_graph=True))
tell(torch.autograd.grad(y, [e, x], retain_graph=True))
tell(torch.autograd.grad(torch.autograd.graph.get_gradient_edge(y), x, retain_graph=True))
tell(torch.autograd.grad(torch.autograd.graph.get_gradient_edge(y), x, torch.tensor(2.), retain_graph=True))
torch.autograd.backward(torch.autograd.graph.get_gradient_edge(y), torch.tensor(1.), retain_graph=True)
leaf = torch.autograd.graph.get_gradient_edge(x)
tell(type(leaf.node).__name__, leaf.node.variable is x)
tell(torch.autograd.grad(y, leaf, retain_graph=True))
y.backward(inputs=[leaf])
torch.autograd.graph.get_gradient_edge(torch.ones(2))
a, b = (x * 2).unbind()
eb = torch.autograd.graph.get_gradient_edge(b)
tell(eb.output_nr)
tell(torch.autograd.grad((a * 2 + b * 5), eb))
# === gradient edge of a vector without gradient
x = torch.tensor([1., 2.], requires_grad=True)
e = torch.autograd.graph.get_gradient_edge(x * 2)
torch.autograd.grad(e, x)
torch.autograd.grad(e, x, torch.ones(3))
# === accumulation
x = torch.tensor([1., 2.], requires_grad=True)
(x * 2).sum().backward()
g = x.grad
(x * 3).sum().backward()
tell(x.grad is g, g)
(x * x).sum().backward(create_graph=True)
tell(x.grad is g, x.grad.requires_grad)
# === gradients of the dtype of the leaf
x = torch.tensor([1., 2.], requires_grad=True)
y = x.double() * 2
y.sum().backward()
tell(x.grad)
h = torch.tensor([1., 2.], dtype=torch.float16, requires_grad=True)
(h.float() * 3).sum().backward()
tell(h.grad)
# === complex gradients
z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
(z * z.conj()).real.sum().backward()
tell(z.grad)
z.grad = None
(z * z).abs().sum().backward()
r = torch.tensor([1., 2.], requires_grad=True)
(r * (1 + 2j)).real.sum().backward()
tell(r.grad)
(z * 2).sum().backward()
# === anomaly: nan and the operation that made it
import warnings
x = torch.tensor([-1., 4.], requires_grad=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        with torch.autograd.detect_anomaly():
            y = x.sqrt()
            y.sum().backward()
    except RuntimeError as error:
        tell(str(error))
tell([str(w.message).split(".")[0] for w in caught])
# === anomaly: an error in backward, check_nan off, parents
x = torch.tensor([-1., 4.], requires_grad=True)
with torch.autograd.detect_anomaly(check_nan=False):
    x.sqrt().sum().backward()
    tell("no error", torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
with torch.autograd.set_detect_anomaly(True):
    tell(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
    with torch.autograd.set_detect_anomaly(False):
        tell(torch.is_anomaly_enabled())
tell(torch.is_anomaly_enabled())
torch.autograd.set_detect_anomaly(True)
tell(torch.is_anomaly_enabled())
torch.autograd.set_detect_anomaly(False)
# === anomaly: nan of a function
class Nan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    def backward(ctx, g):
        return g * float("nan")
x = torch.tensor([1., 2.], requires_grad=True)
with torch.autograd.detect_anomaly():
    Nan.apply(x).sum().backward()
with torch.autograd.detect_anomaly():
    (x * float("nan")).sum().backward()
# === anomaly and a modified variable
x = torch.tensor([1., 2.], requires_grad=True)
with torch.autograd.detect_anomaly():
    h = x.exp()
    y = h * 2
    h.add_(1)
    y.sum().backward()
# === KeyboardInterrupt in the middle leaves a state that can go on
x = torch.tensor([1., 2.], requires_grad=True)
def stop(g):
    raise KeyboardInterrupt
h = x * 2
handle = h.register_hook(stop)
try:
    (h * 3).sum().backward()
except KeyboardInterrupt:
    tell("interrupted", x.grad, torch.is_grad_enabled())
handle.remove()
(h * 3).sum().backward()
# === freed as it goes: what ran before the error is spent, the rest is not
x = torch.tensor([1., 2.], requires_grad=True)
h = x.exp()
k = h.sin()
def stop(g):
    raise ValueError("stop")
handle = h.register_hook(stop)
k.sum().backward()
handle.remove()
k.sum().backward()
h.sum().backward()
# === reentrant backward
x = torch.tensor([1., 2.], requires_grad=True)
class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a.detach())
        return a * 2
    @staticmethod
    def backward(ctx, g):
        a, = ctx.saved_tensors
        a = a.requires_grad_()
        with torch.enable_grad():
            (a * 2).backward(g)
        return a.grad
(Again.apply(x * 3) * x).sum().backward()
# === many edges into one node
x = torch.tensor([1., 2.], requires_grad=True)
h = x * 2
y = torch.stack([h, h, h * 2]).sum() + h.sum()
y.backward()
# === node attributes
x = torch.tensor([1., 2.], requires_grad=True)
y = x * 2
n = y.grad_fn
tell(n.name(), n is y.grad_fn, n._sequence_nr() < (y + 1).grad_fn._sequence_nr(), len(n.next_functions), n(torch.ones(2)))
n.metadata["mine"] = 5
tell(y.grad_fn.metadata["mine"])
tell([type(f).__name__ for f, _ in (x + torch.ones(2)).grad_fn.next_functions])
tell(n._input_metadata[0].shape, str(n._input_metadata[0].dtype))
# === unused outputs
x = torch.tensor([[3., 1., 2.]], requires_grad=True)
v, i = x.sort()
tell(i.requires_grad, v.requires_grad, v.output_nr)
v[0, 0].backward()
# === views of complex numbers
z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
h = z * 1
r = torch.view_as_real(h)
tell(r._is_view(), type(r.grad_fn).__name__)
r.mul_(2)
tell(type(h.grad_fn).__name__, type(r.grad_fn).__name__)
h.abs().sum().backward()
z.grad = None
k = z * 1
k.real.mul_(3)
k.imag.add_(1)
tell(k)
k.abs().sum().backward()
# === warnings of backward(create_graph=True)
import warnings
x = torch.tensor([1., 2.], requires_grad=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    h = x * 2
    h.grad
tell([(w.category.__name__, str(w.message).split(".")[1]) for w in caught])
# === two threads on one graph
import threading
x = torch.ones(4, requires_grad=True)
h = x * 2
def work(k):
    for _ in range(20):
        (h * k).sum().backward(retain_graph=True)
threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
