"""Random programs of views, in-place operations, hooks, modes and backwards: the same text runs on
two engines.

``build(torch, seed)`` writes a program while running it on ``torch``, so that it knows shapes;
``compare`` runs the text
on both and tells the differences; ``shrink`` drops statements as long as a difference stays. By
hand:

    python -m tests.differential.random_programs 0 5000
"""

import random
import sys
import warnings

from . import observe as seen
from . import wider_programs as wider

DIMS = ("0", "-1", "1")
UNARY = ("sin", "tanh", "sigmoid", "neg", "abs", "relu", "clone", "cos")
COMPLEX = ("sin", "neg", "clone")
REDUCING = (
    "sum()",
    "mean()",
    "sum(0)",
    "mean(-1, keepdim=True)",
    "prod()",
    "amax(0)",
    "sum(-1, keepdim=True)",
)
INPLACE = (
    "add_(1)",
    "mul_(2)",
    "sin_()",
    "tanh_()",
    "zero_()",
    "fill_(3)",
    "neg_()",
    "clamp_(min=0.1)",
    "sigmoid_()",
    "mul_({b})",
    "add_({b})",
    "copy_({c})",
    "sub_({b}, alpha=2)",
    "cos_()",
    "masked_fill_({a}.detach().abs() > 0.5, 2.0)",
    "addcmul_({c}, {c})",
    "relu_()",
    "div_(2)",
    "square_()",
    "lerp_({c}, 0.3)",
    "detach_()",
    "squeeze_()",
    "unsqueeze_(0)",
    "t_()",
    "transpose_(0, -1)",
)


FUNCTIONS = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * 2
    @staticmethod
    def backward(ctx, g):
        a, = ctx.saved_tensors
        log.append(["Twice", show(g), ctx.needs_input_grad])
        return g * 2

class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, materialize):
        ctx.set_materialize_grads(materialize)
        r = a * 3
        ctx.save_for_backward(r)
        return a.sin(), r
    @staticmethod
    def backward(ctx, g, h):
        log.append(["Pair", show(g), show(h), show(ctx.saved_tensors[0])])
        return (g if h is None else h if g is None else g + h), None

class Write(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
        return a.mul_(2)
    @staticmethod
    def backward(ctx, g):
        return g * 2

class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a
    @staticmethod
    def backward(ctx, g):
        return g * 5

class Look(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a.view(-1)
    @staticmethod
    def backward(ctx, g):
        return None

class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(0.5, dtype=torch.float64))
    def forward(self, a, times=2):
        return a * self.w, a * times

def stop(*args):
    raise ValueError("stop")
"""
FUNCTIONS += wider.FUNCTIONS


class Program:
    """Statements so far, and the scope in which they ran on the judge."""

    def __init__(self, torch, seed, higher):
        self.torch, self.random, self.higher = torch, random.Random(seed), higher
        self.statements, self.scope, self.count = [], {"torch": torch}, 0
        exec(seen.PRELUDE + FUNCTIONS, self.scope)  # noqa: S102

    def add(self, statement):
        self.statements.append(statement)
        try:
            exec(statement, self.scope)  # noqa: S102
        except Exception:  # noqa: BLE001, S110
            pass

    def quiet(self):
        """A program that continues this one without running its statements."""
        probe = Program(self.torch, 0, self.higher)
        probe.random, probe.scope, probe.count = self.random, dict(self.scope), self.count
        probe.add = probe.statements.append
        return probe

    def fresh(self, letter="v"):
        """A new name; gradients begin with d."""
        self.count += 1
        return f"{letter}{self.count}"

    def pick(self, *wishes, letters="vd"):
        """A tensor's name, one that meets a wish where there is one."""
        names = [
            n for n, t in self.scope.items() if n[0] in letters and isinstance(t, self.torch.Tensor)
        ]
        for wish in wishes:
            with_wish = [n for n in names if _holds(wish, self.scope[n])]
            if with_wish:
                names = with_wish
        weights = [1 + k for k in range(len(names))]
        return self.random.choices(names, weights)[0]

    def choose(self, options):
        return self.random.choice(options)

    def fitting(self, a):
        """The name of a tensor of the same shape as ``a``, most often, or a number."""
        return self.like(a) if self.random.random() < 0.8 else self.choose(("2", "0.5"))

    def like(self, a):
        """The name of a tensor of the same shape, dtype and layout as ``a``, if there is another
        one. Of two layouts NumPy's results take another one than PyTorch's.
        """
        old = self.scope[a]
        found = self.pick(
            lambda t: (t.shape, t.dtype) == (old.shape, old.dtype),
            lambda t: t.stride() == old.stride(),
            lambda t: t is not old,
        )
        return found if self.scope[found].stride() == old.stride() else a


def _holds(wish, t):
    try:
        return bool(wish(t))
    except Exception:  # noqa: BLE001
        return False


def differentiable(t):
    return t.requires_grad


def result(t):
    return t.grad_fn is not None


# ---------------------------------------------------------------- statements
def make_leaf(p):
    shape = p.choose([(), (2,), (3,), (2, 3), (2, 2), (1, 3), (2, 1, 2)])
    n = 1
    for k in shape:
        n *= k
    numbers = [round(p.random.uniform(-1.5, 1.5), 2) for _ in range(n)]
    tracked = ", requires_grad=True" if p.random.random() < 0.7 else ""
    dtype = p.choose(["float64"] * 8 + ["float32", "complex128"])
    p.add(f"{p.fresh()} = torch.tensor({numbers}, dtype=torch.{dtype}).reshape({shape}).clone()")
    if tracked:
        p.add(f"v{p.count}.requires_grad_()")


def view_text(p, a):
    t = p.scope[a]
    n = t.ndim
    size = list(t.shape)
    options = [
        f"{a}.view(-1)",
        f"{a}.reshape(-1)",
        f"{a}.unsqueeze(0)",
        f"{a}.squeeze()",
        f"{a}.detach()",
        f"{a}.view_as({a})",
        f"{a}.expand(2, *{a}.shape)",
        f"{a}.flatten()",
        f"{a}[None]",
        f"{a}[...]",
        f"{a}.T",
        f"{a}.expand_as({a})",
        f"{a}.as_strided(({a}.numel(),), (1,), {a}.storage_offset())",
        f"{a}.view({a}.shape)",
    ]
    if t.is_complex():
        options += [f"torch.view_as_real({a})", f"{a}.real", f"{a}.imag"] * 3
    if n:
        d = p.random.randrange(n)
        options += [
            f"{a}[0]",
            f"{a}[-1:]",
            f"{a}[:1]",
            f"{a}.select({d}, 0)",
            f"{a}.narrow({d}, 0, 1)",
            f"{a}.unbind({d})[0]",
            f"{a}.split(1, {d})[0]",
            f"{a}.chunk(2, {d})[0]",
            f"{a}.transpose(0, {d})",
            f"{a}[::2]",
            f"{a}.unfold({d}, 1, 1)",
            f"{a}.squeeze({d})",
            f"{a}.movedim(0, {d})",
            f"{a}.tensor_split(2, {d})[0]",
            f"{a}.swapaxes(0, {d})",
        ]
    if n > 1:
        order = list(range(n))
        p.random.shuffle(order)
        options += [
            f"{a}.permute({order})",
            f"{a}.diagonal()",
            f"{a}.diagonal(1)",
            f"{a}[:, 0]",
            f"{a}[..., :1]",
            f"{a}.t()",
            f"{a}.mT",
            f"{a}[0, 0]",
            f"{a}.unflatten(0, ({size[0]}, 1))",
        ]
    return p.choose(options)


def make_view(p):
    a = p.pick()
    p.add(f"{p.fresh()} = {view_text(p, a)}")


def make_multi_view(p):
    a = p.pick(lambda t: t.ndim and t.shape[0] > 1, lambda t: not t.is_inference())
    first = f"split([1, {len(p.scope[a]) - 1 if p.scope[a].ndim else 0}])"
    how = p.choose(["unbind(0)", "split(1)", "chunk(2)", "tensor_split(2)", first])
    p.add(f"{p.fresh()}, {p.fresh()}, *_ = {a}.{how}")


def make_unary(p):
    a = p.pick()
    names = COMPLEX if p.scope[a].is_complex() else UNARY
    p.add(f"{p.fresh()} = {a}.{p.choose(names)}()")


def change_dtype(p):
    a = p.pick(lambda t: not t.is_complex(), differentiable)
    how = p.choose(["float()", "double()", "to(torch.float32)", "long()", "bool()"])
    p.add(f"{p.fresh()} = {a}.{how}")


def pick_items(p):
    a = p.pick(lambda t: t.ndim and t.numel() and not t.is_complex(), differentiable)
    n = p.scope[a].ndim
    index = f"torch.zeros({[1] * n}, dtype=torch.int64)"
    zeros = f"torch.zeros_like({a}, dtype=torch.int64)"
    p.add(
        p.choose(
            [
                f"{p.fresh()} = {a}[torch.tensor([0, 0])]",
                f"{p.fresh()} = {a}[{a}.detach() > 0]",
                f"{p.fresh()} = {a}.gather(0, {index})",
                f"{p.fresh()} = {a}.scatter(0, {zeros}, {p.like(a)})",
                f"{p.fresh()} = {a}.index_select(0, torch.tensor([0]))",
                f"{p.fresh()}, {p.fresh()} = {a}.sort()",
                f"{p.fresh()}, {p.fresh()} = {a}.max(0)",
                f"{p.fresh()} = {a}.cumsum(0)",
                f"{p.fresh()} = {a}.masked_fill({a}.detach() > 0, 2.0)",
                f"{a}.index_add_(0, torch.tensor([0]), {a}[:1].detach())",
            ]
        )
    )


def take_storage(p):
    a = p.pick(lambda t: not t.is_inference(), lambda t: not t.requires_grad, letters="v")
    b = p.like(a)
    p.add(
        p.choose(
            [
                f"{a}.set_({b}.detach() * 1)",
                f"{a}.set_({b}.detach())",
                f"{p.fresh()} = {a}.detach().set_({b}.detach())",
                f"{p.fresh()} = {a}.clone().requires_grad_()",
                f"{a}.copy_({b})",
            ]
        )
    )


def use_module(p):
    a = p.pick(lambda t: t.dtype == p.torch.float64, differentiable)
    k = len(p.statements)
    modules = [n for n in p.scope if n[0] == "m" and n[1:].isdigit()]
    if not modules or p.random.random() < 0.3:
        p.add(f"m{k} = {p.choose(['Scale()', 'torch.nn.Identity()', 'torch.nn.Tanh()'])}")
        return
    m = p.choose(modules)
    many = type(p.scope[m]).__name__ == "Scale"
    made = f"{p.fresh()}, {p.fresh()}" if many else p.fresh()
    p.add(
        p.choose(
            [
                f"{made} = {m}({a})",
                f"{made} = {m}({a})",
                f"{made} = {m}({a})",
                f"h{k} = {m}.register_forward_hook(note('f{k}'))",
                f"h{k} = {m}.register_forward_pre_hook(note('fp{k}', lambda m, a: (a[0] * 2,)))",
                f"h{k} = {m}.register_full_backward_hook(note('b{k}'))",
                f"h{k} = {m}.register_full_backward_hook(note('B{k}', lambda m, gi, go: "
                f"tuple(None if g is None else g * 2 for g in gi)))",
                f"h{k} = {m}.register_full_backward_pre_hook(note('bp{k}'))",
                f"{m}.zero_grad()",
            ]
        )
    )


def make_reduced(p):
    p.add(f"{p.fresh()} = {p.pick(lambda t: not t.is_complex())}.{p.choose(REDUCING)}")


def make_binary(p):
    a = p.pick(lambda t: t.dtype.is_floating_point or t.is_complex())
    b = p.fitting(a)
    text = p.choose(
        [
            f"{a} + {b}",
            f"{a} * {b}",
            f"{a} - {b}",
            f"{b} * {a}",
            f"torch.cat([{a}, {p.like(a)}])",
            f"torch.stack([{a}, {p.like(a)}])",
            f"torch.where({a}.detach().abs() > 0.5, {a}, {b})",
            f"{a} / 2",
            f"{a} * {a}",
            f"{a}.mT @ {a}" if p.scope[a].ndim > 1 else f"{a} @ {a}",
        ]
    )
    p.add(f"{p.fresh()} = {text}")


def change(p):
    wish = result if p.random.random() < 0.7 else lambda t: True
    a = p.pick(lambda t: not t.is_inference(), wish, letters="v")
    if p.scope[a].is_complex():
        p.add(f"{a}.mul_({p.fitting(a)})")
        return
    p.add(f"{a}.{p.choose(INPLACE).format(a=a, b=p.fitting(a), c=p.like(a))}")


def change_view(p):
    a = p.pick(lambda t: not t.is_complex(), result, letters="v")
    p.add(f"{view_text(p, a)}.{p.choose(INPLACE).format(a=a, b=p.fitting(a), c=p.like(a))}")


def assign_item(p):
    a = p.pick(
        lambda t: t.ndim and t.numel() and not t.is_complex() and 0 not in t.stride(),
        result,
        letters="v",
    )
    where = p.choose(
        ["0", "...", ":1", "-1", "::2", "..., 0", f"{a}.detach().abs() > 0.5", "[0]", "None"]
    )
    p.add(
        f"{a}[{where}] = "
        f"{p.choose(['1.0', '0', f'{p.pick()} * 1', f'{a}.detach() + 1', f'{a}[0] * 2'])}"
    )


def augment(p):
    a = p.pick(result, letters="v")
    p.add(f"{a} {p.choose(['+=', '*=', '-=', '/='])} {p.fitting(a)}")


def flags(p):
    a = p.pick(lambda t: not t.is_inference(), letters="v")
    p.add(
        p.choose(
            [
                f"{a}.requires_grad_()",
                f"{a}.requires_grad_(False)",
                f"{a}.requires_grad = True",
                f"{a}.detach_()",
                f"{a}.retain_grad()",
                f"{a}.retain_grad()",
                f"{a}.grad = None",
                f"{p.fresh()} = {a}.data",
                f"{p.fresh()} = {a}.detach().requires_grad_()",
                f"{a}.data.mul_(2)",
                f"{a}.data = {p.like(a)}.detach() * 1",
                f"{a}.grad = {a}.detach().clone()",
                f"{a} = {a} * 1",
                f"{p.fresh()} = {a}.grad",
                f"torch.autograd.graph.increment_version({a})",
                f"{a}.detach().mul_(2)",
            ]
        )
    )


def in_mode(p):
    mode = p.choose(
        [
            "no_grad()",
            "no_grad()",
            "inference_mode()",
            "enable_grad()",
            "set_grad_enabled(False)",
            "inference_mode(False)",
        ]
    )
    inner = p.choose(
        [
            make_view,
            make_unary,
            make_binary,
            change,
            change_view,
            assign_item,
            make_multi_view,
            flags,
            make_leaf,
            augment,
        ]
    )
    probe = p.quiet()
    inner(probe)
    p.count = probe.count
    if any(".data =" in statement or ".grad =" in statement for statement in probe.statements):
        return
    body = "\n    ".join(probe.statements[:1])
    p.add(f"with torch.{mode}:\n    {body}")


def own_edge(t):
    """Not a view tracked through its base alone, nor a modified one: PyTorch crashes on hooks
    there.
    """
    return t.requires_grad and not (t._is_view() and (t.grad_fn is None or t._version))


def hook(p):
    a = p.pick(own_edge)
    k = len(p.statements)
    leaf = p.pick(lambda t: own_edge(t) and t.is_leaf)
    if not own_edge(p.scope[a]):
        return
    times = "lambda g: g * 2"
    p.add(
        p.choose(
            [
                f"h{k} = {a}.register_hook(note('t{k}'))",
                f"h{k} = {a}.register_hook(note('t{k}', {times}))",
                f"h{k} = {leaf}.register_post_accumulate_grad_hook(note('a{k}'))",
                f"h{k} = {a}.grad_fn.register_hook(note('n{k}'))",
                f"h{k} = {a}.grad_fn.register_hook(note('n{k}', lambda gi, go: tuple(None if x is "
                f"None else x * 3 for x in gi)))",
                f"h{k} = {a}.grad_fn.register_prehook(note('p{k}'))",
                f"h{k} = {a}.grad_fn.register_prehook(note('p{k}', lambda go: tuple(None if x is "
                f"None else x * 0.5 for x in go)))",
                f"h{k} = {a}.register_hook(lambda g: h{k}.remove() or tell('gone{k}', g))",
                f"acc{k} = ({leaf} * 1).grad_fn.next_functions[0][0]\nh{k} = "
                f"acc{k}.register_prehook(note('l{k}'))",
                f"acc{k} = ({leaf} * 1).grad_fn.next_functions[0][0]\nh{k} = "
                f"acc{k}.register_hook(note('L{k}'))",
                f"h{k} = torch.autograd.graph.register_multi_grad_hook(({a}, {leaf}), "
                f"note('m{k}'))",
                f"h{k} = torch.autograd.graph.register_multi_grad_hook(({a}, {leaf}), "
                f"note('m{k}'), mode='any')",
                f"h{k} = {leaf}.register_post_accumulate_grad_hook(lambda t: setattr(t, 'grad', "
                f"None))",
                f"h{k} = {a}.register_hook(stop)",
                f"h{k} = {a}.grad_fn.register_prehook(stop)",
                f"h{k} = {a}.register_hook(lambda g: {leaf}.sum().backward() if "
                f"{leaf}.grad is None else None)",
                f"h{k} = {a}.register_hook(lambda g: g.sum())",
                f"{a}.grad_fn.metadata['m'] = {k}",
            ]
        )
    )


def unhook(p):
    hooks = [n for n in p.scope if n[0] == "h" and n[1:].isdigit()]
    if hooks:
        p.add(f"{p.choose(hooks)}.remove()")


def options(p):
    keep = p.choose(["", "", ", retain_graph=True", ", retain_graph=True"])
    return keep if not p.higher or p.random.random() < 0.4 else ", create_graph=True"


def run_backward(p):
    a = p.pick(result, lambda t: t.numel() == 1 or p.random.random() < 0.3)
    b = p.pick(result)
    p.add(
        p.choose(
            [
                f"{a}.backward({options(p)[2:]})",
                f"{a}.sum().backward({options(p)[2:]})",
                f"{a}.backward(torch.ones_like({a}){options(p)})",
                f"{a}.backward({a}.detach() * 1{options(p)})",
                f"torch.autograd.backward([{a}, {b}], [torch.ones_like({a}), "
                f"torch.ones_like({b})]{options(p)})",
                f"{a}.sum().backward(inputs=[{p.pick(differentiable)}]{options(p)})",
                f"({a}.sum() + {b}.sum()).backward({options(p)[2:]})",
                f"{a}.sin().sum().backward({options(p)[2:]})",
            ]
        )
    )


def take_grad(p):
    a, b, c = p.pick(result), p.pick(differentiable), p.pick(differentiable)
    unused = p.choose(
        ["", ", allow_unused=True", ", allow_unused=True", ", materialize_grads=True"]
    )
    p.add(
        p.choose(
            [
                f"{p.fresh('d')}, = torch.autograd.grad({a}.sum(), {b}{options(p)}{unused})",
                f"{p.fresh('d')}, {p.fresh('d')} = torch.autograd.grad({a}.sin().sum(), [{b}, "
                f"{c}]{options(p)}{unused})",
                f"{p.fresh('d')}, = torch.autograd.grad([{a}, {c}], {b}, [torch.ones_like({a}), "
                f"torch.ones_like({c})]{options(p)}{unused})",
                f"{p.fresh('d')}, = torch.autograd.grad({a}.sum(), "
                f"torch.autograd.graph.get_gradient_edge({b}){options(p)}{unused})",
            ]
        )
    )


def use_function(p):
    a = p.pick(differentiable)
    w = p.pick(result, letters="v")
    p.add(
        p.choose(
            [
                f"{p.fresh()} = Twice.apply({a})",
                f"{p.fresh()}, {p.fresh()} = Pair.apply({a}, True)",
                f"{p.fresh()}, {p.fresh()} = Pair.apply({a}, False)",
                f"{p.fresh()} = Write.apply({w})",
                f"{p.fresh()} = Same.apply({a})",
                f"{p.fresh()} = Look.apply({a})",
                f"Write.apply({view_text(p, w)})",
            ]
        )
    )


def pack(p):
    a = p.pick(differentiable)
    kept, told = p.choose(
        [
            ("t.clone()", "t"),
            ("t", "t"),
            ("t.detach() * 2", "t / 2"),
            ("tell('pack', t) or t", "tell('unpack', t) or t"),
        ]
    )
    text = p.choose(
        [
            f"{a} * {p.like(a)}",
            f"{a}.sigmoid().exp() * 1",
            f"{a}.tanh() * 1",
            f"Twice.apply({a})",
            f"{a}.sigmoid().sin()",
        ]
    )
    p.add(
        f"with torch.autograd.graph.saved_tensors_hooks(lambda t: {kept}, lambda t: {told}):\n    "
        f"{p.fresh()} = {text}"
    )


def forget(p):
    p.add(f"del {p.pick()}")


KINDS = {
    make_leaf: 3,
    make_view: 14,
    make_multi_view: 3,
    make_unary: 8,
    change_dtype: 2,
    pick_items: 3,
    take_storage: 1,
    use_module: 6,
    make_reduced: 3,
    make_binary: 8,
    change: 10,
    change_view: 5,
    assign_item: 4,
    augment: 4,
    flags: 9,
    in_mode: 6,
    hook: 8,
    unhook: 1,
    run_backward: 8,
    take_grad: 4,
    use_function: 5,
    pack: 2,
    forget: 1,
}


def build(torch, seed, length=None):
    """A program of ``length`` statements; every fourth one differentiates gradients again, every
    second one has the wider kinds of statements too.
    """
    p = Program(torch, seed, higher=seed % 4 == 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p.add(
            "v1 = torch.tensor([[0.5, -1.25], [2.0, 0.75]], dtype=torch.float64, "
            "requires_grad=True)"
        )
        p.count = 1
        make_leaf(p)
        p.add(f"{p.fresh()} = v1 * 2")
        kinds = KINDS | wider.KINDS if seed % 2 else KINDS
        for _ in range(length or p.random.randrange(4, 22)):
            p.random.choices(list(kinds), list(kinds.values()))[0](p)
        run_backward(p)
    # how a product is differentiated depends in PyTorch on how its factors lie in memory, and
    # batched gradients are computed at once
    text = "\n".join(p.statements)
    return p.statements, not (p.higher and ("@" in text or "is_grads_batched" in text))


def compare(torch, engine, statements, with_graph=True):
    """Differences between two engines on one program."""
    told = seen.observe(torch, statements, with_graph, FUNCTIONS)
    if "INTERNAL ASSERT" in repr(told):
        return []
    got = seen.observe(engine, statements, with_graph, FUNCTIONS)
    return [] if overlaps(told) != overlaps(got) else seen.differences(told, got)


def overlaps(observation):
    """Statements refused because operands overlap. That depends on the strides of dimensions of
    size
    one, which NumPy does not keep as PyTorch does: such programs are passed over.
    """
    return [k for k, _, text in observation["errors"] if "some elements of the input" in text]


def shrink(torch, engine, statements, with_graph=True):
    """The program without the statements that the difference does not need."""
    kept = list(statements)
    changed = True
    while changed:
        changed = False
        for k in reversed(range(len(kept))):
            shorter = kept[:k] + kept[k + 1 :]
            found = compare(torch, engine, shorter, with_graph)
            if found and not any("NameError" in line for line in found):
                kept, changed = shorter, True
    return kept


def main(first, last):
    """Compare the programs of a range of seeds and print those that differ, shrunk; the exit
    status is their number.
    """
    import torch

    import gradviz

    torch.set_num_threads(1)
    failed = 0
    for seed in range(first, last):
        statements, with_graph = build(torch, seed)
        found = compare(torch, gradviz, statements, with_graph)
        if found:
            failed += 1
            small = shrink(torch, gradviz, statements, with_graph)
            print(
                f"--- seed {seed}",
                *small,
                *compare(torch, gradviz, small, with_graph)[:6],
                sep="\n",
                flush=True,
            )
    print(f"{last - first} programs, {failed} differ")
    return failed


if __name__ == "__main__":
    raise SystemExit(min(main(int(sys.argv[1]), int(sys.argv[2])), 99))
