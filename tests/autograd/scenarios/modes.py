# === set_grad_enabled, every form
x = torch.tensor([1., 2.], requires_grad=True)
torch.set_grad_enabled(False)
tell(torch.is_grad_enabled(), (x * 2).requires_grad)
torch.set_grad_enabled(True)
with torch.set_grad_enabled(False):
    tell(torch.is_grad_enabled())
tell(torch.is_grad_enabled())
s = torch.set_grad_enabled(False)
tell(torch.is_grad_enabled())
with s:
    tell(torch.is_grad_enabled())
tell(torch.is_grad_enabled())
torch.set_grad_enabled(True)
@torch.set_grad_enabled(False)
def f():
    return torch.is_grad_enabled()
tell(torch.is_grad_enabled(), f(), torch.is_grad_enabled())
tell(str(torch.set_grad_enabled(True)), repr(torch.set_grad_enabled(True).mode))
# === no_grad and enable_grad as decorators, with and without brackets
@torch.no_grad
def f():
    return torch.is_grad_enabled()
@torch.no_grad()
def g():
    return torch.is_grad_enabled()
@torch.enable_grad()
def h():
    return torch.is_grad_enabled()
tell(f(), g(), h(), f.__name__)
with torch.no_grad():
    tell(f(), g(), h(), torch.is_grad_enabled())
# === decorated generators
@torch.no_grad()
def numbers():
    tell("first", torch.is_grad_enabled())
    got = yield 1
    tell("sent", got, torch.is_grad_enabled())
    try:
        yield 2
    except ValueError as error:
        tell("thrown", str(error), torch.is_grad_enabled())
    yield 3
    return 4
def through():
    end = yield from numbers()
    tell("end", end)
it = through()
tell(next(it), torch.is_grad_enabled())
tell(it.send("hello"), torch.is_grad_enabled())
tell(it.throw(ValueError("oops")), torch.is_grad_enabled())
tell(list(it))
# === a generator that is closed
@torch.no_grad()
def numbers():
    try:
        yield 1
        yield 2
    finally:
        tell("closed", torch.is_grad_enabled())
it = numbers()
next(it)
it.close()
tell(torch.is_grad_enabled())
# === a generator that changes the mode of its own
@torch.enable_grad()
def inner():
    with torch.no_grad():
        yield torch.is_grad_enabled()
    yield torch.is_grad_enabled()
it = inner()
tell(next(it), torch.is_grad_enabled(), next(it), torch.is_grad_enabled())
# === coroutines
@torch.no_grad()
async def work():
    return torch.is_grad_enabled()
c = work()
try:
    c.send(None)
except StopIteration as end:
    tell(end.value)
# === a decorated class
@torch.no_grad()
class C:
    def __init__(self):
        self.mode = torch.is_grad_enabled()
tell(type(C()).__name__)
# === exceptions leave the mode as it was
with torch.no_grad():
    raise ValueError("out")
tell(torch.is_grad_enabled())
# === one context entered twice
n = torch.no_grad()
with n:
    with n:
        tell(torch.is_grad_enabled())
    tell(torch.is_grad_enabled())
tell(torch.is_grad_enabled())
# === nesting
with torch.no_grad():
    with torch.enable_grad():
        with torch.no_grad():
            tell(torch.is_grad_enabled())
        tell(torch.is_grad_enabled())
    tell(torch.is_grad_enabled())
# === what arguments
torch.no_grad(5)
torch.enable_grad(5)
torch.set_grad_enabled()
torch.set_grad_enabled(1)
torch.inference_mode(1)
tell(torch.is_grad_enabled())
# === leaves made under no_grad
with torch.no_grad():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y.requires_grad_()
(x * 2).sum().backward()
tell(y.requires_grad, y.is_leaf, z is y)
# === requires_grad rules
x = torch.ones(2)
x.requires_grad_()
x.requires_grad = False
tell(x.requires_grad)
torch.ones(2, dtype=torch.int64).requires_grad_()
torch.ones(2, dtype=torch.int64, requires_grad=True)
torch.tensor([1, 2], requires_grad=True)
h = torch.ones(2, requires_grad=True) * 1
h.requires_grad_()
h.requires_grad_(False)
h.requires_grad = True
h.requires_grad = False
x.requires_grad = 1
torch.ones(2, dtype=torch.bool).requires_grad_(False)
# === detach and detach_
x = torch.tensor([1., 2.], requires_grad=True)
h = x * 2
d = h.detach()
tell(d.requires_grad, d._is_view(), d.grad_fn is None)
d.add_(1)
tell(h._version, d._version)
h.detach_()
tell(h.requires_grad, h.is_leaf)
v = (x * 1)[:1]
v.detach_()
x.detach_()
tell(x.requires_grad)
# === inference tensors
with torch.inference_mode():
    i = torch.ones(2)
    tell(i.is_inference(), torch.is_inference_mode_enabled(), torch.is_grad_enabled())
    j = i * 2
    tell(j.is_inference(), j.requires_grad)
    i.add_(1)
    r = torch.ones(2, requires_grad=True)
    s = r * 2
    tell(r.requires_grad, r.is_inference(), s.requires_grad)
tell(i.is_inference())
i._version
i.add_(1)
tell(i)
i.requires_grad_()
tell((i * 2).is_inference(), i.clone().is_inference(), i.view(-1).is_inference(), i[0].is_inference())
tell(i.clone().requires_grad_().requires_grad)
# === inference tensors in recorded operations
with torch.inference_mode():
    i = torch.ones(2)
x = torch.tensor([1., 2.], requires_grad=True)
(x + i).sum().backward()
y = x * i
z = x.matmul(i)
u = i + 1
tell(u.is_inference(), u.requires_grad)
w = torch.cat([x, i])
w.sum().backward()
# === normal tensors in inference mode
x = torch.tensor([1., 2.], requires_grad=True)
n = torch.ones(2)
h = x * 1
with torch.inference_mode():
    v = n.view(-1)
    tell(v.is_inference(), v._is_view())
    n.add_(1)
    tell(n._version)
    h.add_(1)
    p = h * 2
    tell(p.is_inference(), p.requires_grad)
    q = h.view(-1)
    tell(q.requires_grad, q.is_inference(), q.is_leaf)
h.sum().backward()
v.add_(1)
q.add_(1)
tell(n._version)
# === saved tensor changed in inference mode
x = torch.tensor([1., 2.], requires_grad=True)
h = x * 1
y = h * h
with torch.inference_mode():
    h.add_(1)
y.sum().backward()
# === inference_mode: forms
@torch.inference_mode()
def f():
    return torch.is_inference_mode_enabled(), torch.is_grad_enabled()
@torch.inference_mode
def g():
    return torch.is_inference_mode_enabled()
tell(f(), g(), torch.is_inference_mode_enabled())
with torch.inference_mode():
    with torch.inference_mode(False):
        tell(torch.is_inference_mode_enabled(), torch.is_grad_enabled())
        x = torch.ones(2, requires_grad=True)
        tell((x * 2).requires_grad)
    with torch.enable_grad():
        tell(torch.is_grad_enabled(), torch.is_inference_mode_enabled(), (torch.ones(2, requires_grad=True) * 2).requires_grad)
with torch.inference_mode(False):
    tell(torch.is_grad_enabled())
with torch.no_grad():
    with torch.inference_mode(False):
        tell(torch.is_grad_enabled())
@torch.inference_mode()
def numbers():
    yield torch.is_inference_mode_enabled()
    yield torch.is_inference_mode_enabled()
it = numbers()
tell(next(it), torch.is_inference_mode_enabled(), next(it))
# === backward inside inference mode
x = torch.tensor([1., 2.], requires_grad=True)
y = (x * x).sum()
with torch.inference_mode():
    y.backward()
tell(x.grad, x.grad.is_inference())
# === backward under no_grad
x = torch.tensor([1., 2.], requires_grad=True)
y = (x * x).sum()
with torch.no_grad():
    y.backward()
    (x * x).sum().backward()
tell(x.grad)
# === inference tensor as gradient, and in set_data
x = torch.tensor([1., 2.], requires_grad=True)
with torch.inference_mode():
    i = torch.ones(2)
(x * 2).backward(i)
x.grad = i
tell(x.grad.is_inference())
# === inference views of views
x = torch.ones(2, 2)
with torch.inference_mode():
    a = torch.ones(2, 2)
    v = a[0]
    tell(v._is_view(), v.is_inference())
w = a[0]
tell(w._is_view(), w.is_inference())
w.add_(1)
v.requires_grad_()
# === threads begin with grad enabled
import threading
def look():
    tell(torch.is_grad_enabled(), torch.is_inference_mode_enabled())
with torch.no_grad():
    t = threading.Thread(target=look)
    t.start()
    t.join()
torch.set_grad_enabled(False)
t = threading.Thread(target=look)
t.start()
t.join()
torch.set_grad_enabled(True)
# === data
x = torch.tensor([1., 2.], requires_grad=True)
d = x.data
tell(d.requires_grad, d._version, d._is_view())
d.add_(1)
tell(x._version, x)
y = (x * x).sum()
x.data.mul_(2)
y.backward()
x.data = torch.tensor([5., 6., 7.])
tell(x, x.requires_grad, x._version)
x.data = torch.tensor([1, 2])
x.data = 5
# === set_
x = torch.ones(2)
y = torch.zeros(3)
x.set_(y)
tell(x.shape, x._version)
y.add_(1)
tell(x)
# === grad assignment
x = torch.tensor([1., 2.], requires_grad=True)
x.grad = torch.ones(2)
x.grad = None
x.grad = torch.ones(3)
x.grad = torch.ones(2, dtype=torch.float64)
x.grad = 5
x.grad = x
del x.grad
tell(x.grad)
(x * 2).grad = torch.ones(2)
