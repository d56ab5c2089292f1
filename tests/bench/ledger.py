"""Does the account of memory agree with what Python allocated? ``python -m tests.bench.ledger``

Each program is run once unmeasured; then its bytes by kind, as ``gradviz.memory()`` tells them, are
compared with what tracemalloc saw it allocate and keep. They must agree to within 2 %.
"""

import gc
import tracemalloc

import gradviz as torch
from gradviz.ask.memory import memory_at
from gradviz.ask.moment import within

nn = torch.nn


def adam_step_retained():
    net = nn.Sequential(nn.Linear(512, 512), nn.Tanh())
    opt, batch = torch.optim.Adam(net.parameters()), torch.ones(1024, 512)
    out = net(batch)
    loss = out.square().mean()
    loss.backward(retain_graph=True)
    opt.step()
    return locals()


def losses_in_a_list():
    net, history = nn.Sequential(nn.Linear(400, 400), nn.ReLU(), nn.Linear(400, 10)), []
    for _ in range(5):
        history.append(net(torch.randn(256, 400)).square().mean())
    return locals()


def retained_gradients():
    w, kept = torch.randn(600, 600, requires_grad=True), []
    h = w
    for _ in range(4):
        h = torch.tanh(h)
        h.retain_grad()
        kept.append(h)
    h.sum().backward()
    return locals()


def convolutions_with_momentum():
    net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    loss = net(torch.randn(8, 3, 32, 32)).square().mean()
    loss.backward()
    opt.step()
    out = net(torch.randn(8, 3, 32, 32))
    return locals()


def views_of_a_large_tensor():
    rows = [torch.randn(500, 500)[:2] for _ in range(6)]
    return locals()


def gradients_with_a_graph():
    w = torch.randn(500, 500, requires_grad=True)
    (g,) = torch.autograd.grad((w**3).sum(), w, create_graph=True)
    return locals()


def attention():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    out = layer(torch.randn(16, 48, 64))
    return locals()


def difference(program) -> tuple[int, int, dict]:
    """(bytes told, bytes allocated, told by kind)."""
    program()
    gc.collect()
    tracemalloc.start()
    try:
        names = program()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    told = memory_at(within(names))
    return told.total, grown, {kind: size for kind, size in told.kinds.items() if size}


PROGRAMS = (
    adam_step_retained,
    losses_in_a_list,
    retained_gradients,
    convolutions_with_momentum,
    views_of_a_large_tensor,
    gradients_with_a_graph,
    attention,
)

if __name__ == "__main__":
    for one in PROGRAMS:
        told, grown, kinds = difference(one)
        share = (told - grown) / grown * 100
        print(f"{one.__name__:28} {told / 1e6:8.3f} MB told, {grown / 1e6:8.3f} MB: {share:+.2f} %")
        print(" " * 28, ", ".join(f"{kind} {size / 1e6:.2f}" for kind, size in kinds.items()))
