"""PyTorch watched while cells run: what is seen of it, and that it is as it was."""

import sys
import threading

import pytest

from tests.doctor.notebook import Notebook

torch = pytest.importorskip("torch", reason="watches PyTorch, which is not installed")


@pytest.fixture
def live():
    torch.manual_seed(0)
    book = Notebook()
    book.run("import torch, torch.nn as nn, torch.nn.functional as F")
    yield book
    book.close()


def rows(book):
    return {row.label or row.op: row for row in book.recorder.trace.nodes.values()}


TRAIN = """
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
for step in range(3):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_training_loop_leaves_its_lines_its_passes_and_its_steps(live):
    live.run(TRAIN)
    seen = rows(live)
    assert seen["loss"].place.code == "loss = F.mse_loss(net(x), y)"
    assert seen["net[0].weight"].kind == "parameter" and seen["net[0].weight"].grad_norm > 0
    assert seen["TanhBackward0"].place.line == 6 and seen["TanhBackward0"].freed
    ledger = live.source.ledger
    assert [(s.entry, len(s.leaves), s.error) for s in ledger.sweeps] == [("backward", 4, "")] * 3
    assert [e.entry for e in ledger.events if e.kind == "bump"].count("step") == 12
    accounts = list(ledger.leaves.values())
    assert all(len(account.run) == 1 and account.total == 3 for account in accounts)
    for id in (seen["loss"].id, seen["net[0].weight"].id):
        assert live.source.attempt({"what": "check", "id": id})["why"] == "pytorch"


def test_gradients_on_the_edges_are_measured_and_no_hook_is_left(live):
    live.run("w = torch.ones(2, requires_grad=True)\ny = w.exp()\nloss = (y * y).sum()")
    live.run("loss.backward(retain_graph=True)")
    names = {row.id: row.label or row.op for row in live.recorder.trace.nodes.values()}
    found = {
        (names[e.source], names[e.target]): e.grad_norm for e in live.recorder.trace.edges.values()
    }
    e, root = 2.718281828, 2**0.5
    assert found["MulBackward0", "loss"] == pytest.approx(root)
    assert found["y", "MulBackward0"] == pytest.approx(e * root)
    assert found["w", "y"] == pytest.approx(2 * e * e * root)
    live.run("loss.backward()")
    assert torch.equal(live.ns["w"].grad, 2 * (2 * live.ns["y"] ** 2).detach())


FAST = """
small = nn.Linear(2, 1)
seen = []
for step in range(40):
    loss = small(torch.ones(1, 2)).sum()
    seen.append(loss.item())
    loss.backward()
    if step == 30:
        other = nn.Linear(2, 1)
        small = nn.Sequential(small, nn.Linear(1, 1))
"""


def test_passes_of_a_fast_loop_keep_their_accounts_when_few_graphs_are_looked_at(live):
    live.run(FAST)
    leaves = list(live.source.ledger.leaves.values())
    assert sorted(len(account.run) for account in leaves)[-2:] == [40, 40]
    (cut,) = [one for one in live.source.watcher.cuts.values() if one.sources]
    assert cut.count == 40 and len(cut.sources) == 40
    assert not live.source.watcher.unsettled


def test_lines_of_a_chain_too_deep_to_be_looked_at(live):
    live.run(
        "w = torch.ones(1, requires_grad=True)\ny = w\nfor _ in range(30_000):\n    y = y * 1.0\n"
        "z = y.exp()\nz.backward()"
    )
    assert rows(live)["z"].place.code == "z = y.exp()"
    live.run("del y, z")


def test_lines_inside_functions_and_modules_of_the_person(live):
    live.run("class Twice(nn.Module):\n    def forward(self, x):\n        return x.exp() * 2")
    live.run("w = torch.ones(2, requires_grad=True)\nout = Twice()(w)")
    row = rows(live)["ExpBackward0"]
    assert (row.place.cell, row.place.line) == (2, 3)
    assert [(place.cell, place.line) for place in row.calls] == [(3, 2)]


CUSTOM = """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
w = torch.ones(2, requires_grad=True)
y = Own.apply(w)
z = y.exp()
last = Own.apply(z)
"""


def test_lines_of_custom_functions(live):
    live.run(CUSTOM)
    seen = rows(live)
    assert [seen[name].place.code for name in ("y", "z", "last")] == [
        "y = Own.apply(w)",
        "z = y.exp()",
        "last = Own.apply(z)",
    ]


def test_where_values_leave_the_graph(live):
    live.run("w = torch.ones(2, requires_grad=True)\ny = w * 2\nz = y.detach()\nn = y.sum().item()")
    live.run("with torch.no_grad():\n    q = w * 3\na = y.data\ni = y.long()\nm = z.numpy()")
    cuts = live.source.watcher.cuts.values()
    lines = {(cut.how, live.source.places.place(*cut.note[:2]).line) for cut in cuts if cut.sources}
    assert {("detach", 3), ("item", 4), ("data", 3), ("integer", 4)} <= lines
    assert any(cut.how == "no_grad" and cut.leaves for cut in cuts)


def test_changes_in_place_hooks_and_wishes(live):
    live.run(
        "w = torch.ones(2, requires_grad=True)\ny = w.exp()\ny += 1\ny[0] = 3\n"
        "with torch.no_grad():\n    w.mul_(2)\n"
        "y.retain_grad()\nhandle = y.register_hook(lambda g: g)\nhandle.remove()\n"
        "net = nn.Linear(2, 1)\nkept = net.register_forward_hook(lambda *_: None)"
    )
    events = [(e.kind, e.entry) for e in live.source.ledger.events]
    assert ("bump", "add_") in events and ("bump", "setitem") in events
    assert ("bump", "mul_") in events and ("retain", "retain_grad") in events
    assert [(hook.kind, hook.removed) for hook in live.source.watcher.hooks] == [
        ("tensor", True),
        ("forward", False),
    ]
    assert rows(live)["y"].inplace


def test_a_failed_backward_is_entered_with_its_error(live):
    live.run("w = torch.ones(2, requires_grad=True)\nloss = w.exp().sum()\nloss.backward()")
    live.run("loss.backward()")
    (sweep,) = [sweep for sweep in live.source.ledger.sweeps if sweep.error]
    assert sweep.error_type == "RuntimeError" and "second time" in sweep.error
    assert live.source.failures[-1].freed.line == 2


PROGRAMS = {
    "training": TRAIN + "told = [p.detach().clone() for p in net.parameters()] + [loss.detach()]",
    "attention in eval": """
layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
with torch.no_grad():
    told = [layer(torch.randn(2, 5, 8))]
""",
    "encoder": """
net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
out = net(torch.randn(2, 5, 8))
out.sum().backward()
told = [out.detach(), *[p.grad for p in net.parameters()]]
""",
    "convolutions": """
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
out = net(torch.randn(3, 1, 8, 8))
out.square().mean().backward()
told = [out.detach(), net[1].running_mean, *[p.grad for p in net.parameters()]]
""",
    "custom": """
class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]
w = torch.randn(4, requires_grad=True)
Own.apply(w).sum().backward()
told = [w.grad]
""",
    "transforms": """
w = torch.randn(4)
f = lambda v: (v.sin() ** 2).sum()
told = [torch.func.grad(f)(w), torch.func.hessian(f)(w), torch.vmap(torch.sin)(w)]
""",
    "higher": """
w = torch.randn(4, requires_grad=True)
(g,) = torch.autograd.grad((w ** 3).sum(), w, create_graph=True)
(g ** 2).sum().backward()
told = [w.grad]
""",
    "autocast and checkpoints": """
from torch.utils.checkpoint import checkpoint
net = nn.Linear(4, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    out = checkpoint(lambda v: net(v).relu(), torch.randn(2, 4), use_reentrant=False).sum()
out.backward()
told = [out.detach(), net.weight.grad]
""",
    "a second backward": "w = torch.ones(2, requires_grad=True)\nl = w.exp().sum()\n"
    "l.backward()\nl.backward()",
    "shapes": "torch.randn(2, 3) @ torch.randn(2, 3)",
    "in place on a leaf": "w = torch.ones(2, requires_grad=True)\nw += 1",
    "an error in a step": """
class Odd(torch.optim.SGD):
    def _init_group(self, *args):
        raise ZeroDivisionError("odd")
w = nn.Parameter(torch.ones(1))
w.sum().backward()
Odd([w]).step()
""",
}


def outcome(text, watched):
    """What a program computes, or the error it ends with."""
    torch.manual_seed(0)
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    if not watched:
        try:
            exec(compile(text, "<program>", "exec"), names)
        except Exception as error:
            return type(error), str(error)
        return names["told"]
    book = Notebook()
    try:
        book.ns.update(names)
        book.run(text)
        return book.ns["told"] if book.error is None else (type(book.error), str(book.error))
    finally:
        book.close()


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_and_errors_are_the_same_bit_for_bit(name):
    plain, seen = outcome(PROGRAMS[name], False), outcome(PROGRAMS[name], True)
    if isinstance(plain, tuple):
        assert seen == plain
        return
    for one, other in zip(plain, seen, strict=True):
        assert one.dtype == other.dtype and torch.equal(one, other)


def state_of_torch():
    hooks = sys.modules["torch.optim.optimizer"]
    return (
        torch._C._len_torch_function_stack(),
        len(hooks._global_optimizer_pre_hooks),
        len(hooks._global_optimizer_post_hooks),
        dict(vars(torch.nn.Module)),
        dict(vars(hooks.Optimizer)),
        dict(vars(torch.autograd.Function)),
        dict(vars(sys.modules["torch.autograd.function"])),
        dict(vars(torch.autograd.profiler.record_function)),
        [type(finder) for finder in sys.meta_path],
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_torch_is_as_it_was(name):
    before = state_of_torch()
    outcome(PROGRAMS[name], True)
    assert state_of_torch() == before


def test_modes_that_the_program_leaves_on_the_stack_stay_there():
    book = Notebook()
    try:
        book.run("import torch\nmode = torch.overrides.BaseTorchFunctionMode()\nmode.__enter__()")
        assert torch._C._len_torch_function_stack() == 1
        book.run("y = torch.ones(2, requires_grad=True) * 2\nmode.__exit__(None, None, None)")
        assert torch._C._len_torch_function_stack() == 0
        assert not book.source.watcher.errors
    finally:
        book.close()


def test_other_threads_are_left_alone(live):
    live.run(
        "import threading\n"
        "def work():\n    global made\n    made = (torch.ones(2, requires_grad=True) * 2).sum()\n"
        "one = threading.Thread(target=work)\none.start()\none.join()"
    )
    assert threading.active_count() >= 1 and rows(live)["made"].op == "SumBackward0"
