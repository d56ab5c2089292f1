"""More kinds of statements for random programs: views of odd views, empty tensors, nested modes,
custom Functions of every style, hooks that remove hooks, batched and re-entrant gradients,
checkpoints.

Not written, since they cannot be the same: writes into elements that overlap without being expanded
(PyTorch writes one after the other), hooks inside batched gradients (there they run once for the
whole batch), storage offsets of empty views (NumPy keeps none), parts without view tracking in
inference mode, operations on nothing but inference tensors that require grad (recorded here, not in
PyTorch), and other shapes through ``.data`` where the old one was saved (another text).
"""

FUNCTIONS = """
class Setup(torch.autograd.Function):
    @staticmethod
    def forward(a, times=2):
        return a * times
    @staticmethod
    def setup_context(ctx, inputs, output):
        a, ctx.times = inputs
        ctx.save_for_backward(a, output)
    @staticmethod
    def backward(ctx, g):
        a, out = ctx.saved_tensors
        log.append(["Setup", show(a), show(out), ctx.needs_input_grad])
        return g * ctx.times, None

class Split(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, mark):
        r, s = a * 2, a.detach() + 1
        if mark:
            ctx.mark_non_differentiable(s)
        return r, s, "text"
    @staticmethod
    def backward(ctx, *grads):
        log.append(["Split", show(grads)])
        return grads[0], None

class Views(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a.view(-1), a.unsqueeze(0)
    @staticmethod
    def backward(ctx, g, h):
        log.append(["Views", show(g), show(h)])
        return g.reshape(h.shape[1:]) + h[0]

class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.mark_dirty(a)
        a.add_(b)
        ctx.save_for_backward(a)
        return a
    @staticmethod
    def backward(ctx, g):
        log.append(["Dirty", show(ctx.saved_tensors), ctx.needs_input_grad])
        return g, g * 3

class DirtyTwo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
        return a.mul_(2), a * 1
    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h * 2

class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a ** 2
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        a, = ctx.saved_tensors
        return g * 2 * a

class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, kind):
        ctx.kind = kind
        return a * 2
    @staticmethod
    def backward(ctx, g):
        return [(g,), (g, None, None), (g[None].expand(2, *g.shape), None), ("g", None),
                (g.sum(), None), (None, None), (g.to(torch.float32), None), g,
                (torch.ones(7), None)][ctx.kind]

class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        with torch.enable_grad():
            ctx.x = a.detach().requires_grad_()
            ctx.y = ctx.x.sin() * ctx.x
        return ctx.y.detach()
    @staticmethod
    def backward(ctx, g):
        log.append(["Inner", torch.is_grad_enabled()])
        ctx.y.backward(g)
        return ctx.x.grad

class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, None, b)
        ctx.set_materialize_grads(False)
        return a * b
    @staticmethod
    def backward(ctx, g):
        a, _, b = ctx.saved_tensors
        if g is None:
            return None, None
        return (g * b if ctx.needs_input_grad[0] else None,
                g * a if ctx.needs_input_grad[1] else None)

class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a.clone(), a
    @staticmethod
    def backward(ctx, g, h):
        return g + h

def square(a):
    log.append(["square", torch.is_grad_enabled()])
    return a * a

def sines(a, b):
    return a.sin() * b, a.cos()
"""

SHAPES = [(0,), (2, 0), (1,), (), (2, 2), (3,), (1, 2), (2, 1, 2)]


def make_odd_leaf(p):
    shape = p.choose(SHAPES)
    dtype = p.choose(["float64"] * 4 + ["float32", "complex128", "int64", "bool"])
    n = 1
    for k in shape:
        n *= k
    numbers = [round(p.random.uniform(-1.5, 1.5), 2) for _ in range(n)]
    p.add(
        f"{p.fresh()} = torch.tensor({numbers}, dtype=torch.float64).to(torch.{dtype})"
        f".reshape({shape}).clone()"
    )
    if dtype[0] in "fc" and p.random.random() < 0.7:
        p.add(f"v{p.count}.requires_grad_()")


def odd_view(p, a):
    """A view of elements that lie apart or on one another."""
    t = p.scope[a]
    options = [
        f"{a}.expand(2, *{a}.shape)",
        f"{a}.unsqueeze(-1).expand(*{a}.shape, 2)",
        f"{a}.unsqueeze(0).transpose(0, -1)",
        f"{a}.view({a}.shape)",
        f"{a}.narrow(-1, 0, 1)",
    ]
    if t.numel():  # NumPy does not keep where an empty view lies
        options.append(f"{a}.as_strided((2,), (0,), {a}.storage_offset())")
    if t.ndim:
        options += [
            f"{a}.unfold(0, 1, 1)",
            f"{a}[::2]",
            f"{a}[0:0]",
            f"{a}[1:]",
        ]
    if t.ndim > 1:
        options += [
            f"{a}.diagonal(0, 0, -1)",
            f"{a}.diagonal(-1)",
            f"{a}.movedim(0, -1)",
            f"{a}.flatten(0, 1)",
        ]
    if t.is_complex():
        options += [f"torch.view_as_real({a})", f"{a}.real", f"{a}.imag"] * 4
    if t.ndim and t.shape[-1] == 2 and t.dtype == p.torch.float64:
        options += [f"torch.view_as_complex({a})"] * 3
    return p.choose(options)


def make_odd_view(p):
    p.add(f"{p.fresh()} = {odd_view(p, p.pick())}")


def parts(p, a):
    """Several views at once, of a view or of what is not one."""
    whole = p.choose([a, odd_view(p, a), odd_view(p, a)])
    how = p.choose(
        [
            "unbind(0)",
            "unbind(-1)",
            "split(1)",
            "split(1, -1)",
            "chunk(2)",
            "chunk(2, -1)",
            "tensor_split(2)",
            "tensor_split((1,), -1)",
            "split_with_sizes([1, 1])",
            "unsafe_split(1)",
            "unsafe_chunk(2)",
            "hsplit(2)",
        ]
    )
    return f"{whole}.{how}"


def make_parts(p):
    a = p.pick(lambda t: t.ndim and t.shape[0] > 1)
    p.add(f"{p.fresh()}, *rest = {parts(p, a)}")
    p.add(f"{p.fresh()} = rest[-1]")


WRITES = (
    "mul_(2)",
    "add_(1)",
    "sin_()",
    "zero_()",
    "copy_({c})",
    "add_({c})",
    "mul_({c})",
    "fill_({c}.sum())",
    "requires_grad_()",
    "detach_()",
    "set_({c}.detach().clone())",
    "resize_(2)",
    "exp_()",
    "sigmoid_()",
    "clamp_(-1, 1)",
    "as_strided_((2,), (1,))",
    "index_fill_(0, torch.tensor([0]), 2.0)",
    "scatter_(0, torch.zeros_like({c}, dtype=torch.int64), {c})",
    "masked_fill_({c}.detach().abs() > 0.5, {c}.sum())",
    "pow_(2)",
    "abs_()",
    "sqrt_()",
    "normal_()",
    "swapaxes_(0, -1)",
)


def write_odd_view(p):
    a = p.pick(letters="v")
    text = p.choose([odd_view(p, a), f"{parts(p, a)}[0]"])
    how = p.choose(WRITES[:11]).format(c=p.like(a))
    p.add(f"{text}.{how}")


def write_more(p):
    a = p.pick(lambda t: t.grad_fn is not None or p.random.random() < 0.3, letters="v")
    how = p.choose(WRITES)
    if "resize_" in how and p.scope[a].untyped_storage().nbytes() < 2 * p.scope[a].element_size():
        how += ".fill_(1)"  # what is added has no defined value
    if how != "normal_()" and (p.scope[a].numel() or "index" not in how):
        p.add(f"{a}.{how.format(c=p.like(a))}")


def write_part(p):
    """One of several views, or what they are views of, is written."""
    a = p.pick(lambda t: t.ndim and t.shape[0] > 1 and t.grad_fn is not None, letters="v")
    one, other = p.choose(WRITES[:7]).format(c="2 * one.detach()"), p.choose(WRITES[:4])
    p.add(f"one = {parts(p, a)}[0]")
    p.add(p.choose([f"one.{one}", f"{a}.{other}", f"one.view(-1).{other}"]))
    p.add(f"{p.fresh()} = one * 2")


MODES = [
    "no_grad()",
    "enable_grad()",
    "inference_mode()",
    "inference_mode(False)",
    "set_grad_enabled(False)",
    "set_grad_enabled(True)",
]


# the modes that these were made in show in other ways than on a tensor
_NOT_NESTED = (".data =", "set_(", "unsafe", "requires_grad")


def nest_modes(p):
    """Two modes, and up to three statements inside."""
    first, second = p.choose(MODES), p.choose(MODES)
    probe = p.quiet()
    for _ in range(p.random.randrange(1, 4)):
        p.choose([make_odd_view, write_odd_view, write_more, make_parts, combine, toggle])(probe)
    p.count = probe.count
    lines = [line for line in probe.statements if not any(w in line for w in _NOT_NESTED)]
    if lines:
        middle = p.random.randrange(len(lines) + 1)
        body = [f"    {line}" for line in lines[:middle]]
        inner = [f"        {line}" for line in lines[middle:]] or ["        pass"]
        p.add("\n".join([f"with torch.{first}:", *body, f"    with torch.{second}:", *inner]))


def combine(p):
    a = p.pick(lambda t: t.dtype.is_floating_point)
    c = p.like(a)
    p.add(
        f"{p.fresh()} = "
        + p.choose(
            [
                f"{a} * {c}",
                f"{a}.sum() * {c}",
                f"torch.cat([{a}.reshape(-1), {c}.reshape(-1)])",
                f"{a}.clone().view(-1)",
                f"{a}.unfold(-1, min(2, {a}.shape[-1]), 1) * 2",
                f"{a}.as_strided((2, 2), (1, 1), {a}.storage_offset()).sum(0)",
                f"{a}.to(torch.complex128)",
                f"{a}.to(torch.float32).to(torch.float64)",
                f"torch.complex({a}, {c})",
                f"{a}.detach().requires_grad_() * {c}",
                f"({a} ** 2).sum(0)",
                f"{a}.contiguous()",
                f"{a}.repeat(2, *[1] * {a}.ndim)",
                f"torch.stack([{a}, {c}]).prod(0)",
                f"{a}.flip(0)",
                f"{a}.softmax(-1)",
                f"{a}.logsumexp(-1)",
                f"{a}.var()",
                f"{a}.norm()",
                f"{a}.index_add(0, torch.tensor([0]), {c}[:1])",
                f"{a}.cumprod(0)",
                f"torch.outer({a}.reshape(-1), {c}.reshape(-1))",
                f"torch.nn.functional.relu({a}, inplace=True)",
                f"torch.nn.functional.dropout({a}, 0.0)",
                f"torch.addcmul({a}, {c}, {c}, value=2)",
                f"{a}.max(-1).values",
                f"torch.nn.functional.pad({a}, (1, 0))",
                f"{a}.roll(1)",
                f"torch.maximum({a}, {c})",
                f"torch.lerp({a}, {c}, 0.3)",
            ]
        )
    )


def toggle(p):
    a = p.pick(lambda t: not t.is_inference(), letters="v")
    c = p.like(a)
    p.add(
        p.choose(
            [
                f"{a}.requires_grad_()",
                f"{a}.requires_grad_(False)",
                f"{a}.detach_()",
                f"{a}.retain_grad()",
                f"{a}.data = {c}.detach() * 2",
                f"{p.pick(lambda t: t.is_leaf)}.data = {a}.detach().reshape(-1)",
                f"{a}.data.zero_()",
                f"{a}.grad = {c}.detach().clone()",
                f"{a}.grad = None",
                f"{p.fresh()} = {a}.data.requires_grad_()",
                f"{p.fresh()} = torch.nn.Parameter({a}.detach())",
                f"{p.fresh()} = {a}.detach().view(-1)",
                f"{p.fresh()} = torch.tensor({a}.detach().tolist(), requires_grad=True)",
                f"tell({a}.is_leaf, {a}.requires_grad, {a}._version, {a}.output_nr)",
                f"{p.fresh()} = {a}.new_zeros(2).requires_grad_()",
                f"{p.fresh()} = torch.zeros_like({a}, requires_grad=True)",
                f"{a}.grad.zero_()",
                f"{a}.grad.detach_()",
                f"{a}.retain_grad()\n{a}.mul_(2)",
                f"{a}.mul_(2)\n{a}.retain_grad()",
            ]
        )
    )


def use_functions(p):
    a = p.pick(lambda t: t.requires_grad, lambda t: not t.is_complex())
    w = p.pick(lambda t: t.grad_fn is not None, letters="v")
    c = p.like(a)
    kept = p.choose(["a * 1", "a", "(a * 1).detach()", "a.view(-1)"])
    p.add(
        p.choose(
            [
                f"{p.fresh()} = Setup.apply({a}, 3)",
                f"{p.fresh()} = Setup.apply({a})",
                f"{p.fresh()}, {p.fresh()}, _ = Split.apply({a}, {p.choose(['True', 'False'])})",
                f"{p.fresh()}, {p.fresh()} = Views.apply({a})",
                f"{p.fresh()} = Dirty.apply({w}, {p.like(w)})",
                f"{p.fresh()} = Dirty.apply({odd_view(p, w)}, {p.like(w)})",
                f"{p.fresh()}, {p.fresh()} = DirtyTwo.apply({w})",
                f"{p.fresh()} = Once.apply({a})",
                f"{p.fresh()} = Wrong.apply({a}, {p.random.randrange(9)})",
                f"{p.fresh()} = Inner.apply({a})",
                f"{p.fresh()} = Both.apply({a}, {c})",
                f"{p.fresh()} = Both.apply({a}, {c}.detach())",
                f"{p.fresh()}, {p.fresh()} = Nothing.apply({a})",
                f"{p.fresh()} = Both.apply({odd_view(p, a)}, {a}.sum())",
                f"{p.fresh()} = type('Made', (torch.autograd.Function,), dict(forward=staticmethod("
                f"lambda ctx, a: {kept}), backward=staticmethod(lambda ctx, g: g)))"
                f".apply({a})",
            ]
        )
    )


def checkpoint(p):
    a = p.pick(lambda t: t.requires_grad, lambda t: t.dtype == p.torch.float64)
    c = p.like(a)
    reentrant = p.choose(["True", "False"])
    p.add(
        p.choose(
            [
                f"{p.fresh()} = torch.utils.checkpoint.checkpoint(square, {a}, "
                f"use_reentrant={reentrant})",
                f"{p.fresh()}, {p.fresh()} = torch.utils.checkpoint.checkpoint(sines, {a}, {c}, "
                f"use_reentrant={reentrant})",
            ]
        )
    )


def own_edge(t):
    return t.requires_grad and not (t._is_view() and (t.grad_fn is None or t._version))


def hook_more(p):
    a, b = p.pick(own_edge), p.pick(own_edge)
    k = len(p.statements)
    if not (own_edge(p.scope[a]) and own_edge(p.scope[b])):
        return
    old = [n for n in p.scope if n[0] == "h" and n[1:].isdigit()] or ["none"]
    h = p.choose(old)
    leaf = p.pick(lambda t: own_edge(t) and t.is_leaf)
    multi = "torch.autograd.graph.register_multi_grad_hook"
    p.add(
        p.choose(
            [
                f"h{k} = {a}.register_hook(lambda g: {h}.remove())",
                f"h{k} = {a}.register_hook(lambda g: {b}.register_hook(note('late{k}')) and None)",
                f"h{k} = {a}.grad_fn.register_hook(lambda gi, go: h{k}.remove() or "
                f"tell('once{k}', gi, go))",
                f"h{k} = {a}.grad_fn.register_prehook(lambda go: {h}.remove() or tell('p', go))",
                f"h{k} = {leaf}.register_post_accumulate_grad_hook(lambda t: h{k}.remove() or "
                f"tell('post', t.grad))",
                f"h{k} = {multi}([{a}, {b}], lambda gs: h{k}.remove() or tell('m{k}', gs))",
                f"h{k} = {multi}([{a}, {b}], lambda g: h{k}.remove() or tell('y{k}', g), "
                f"mode='any')",
                f"h{k} = {a}.register_hook(lambda g: None if g is None else g.clone().zero_())",
                f"h{k} = {a}.register_hook(lambda g: g.detach() * 2)",
                f"h{k} = {a}.register_hook(lambda g: g.view(-1))",
                f"h{k} = {a}.register_hook(lambda g: g.to(torch.float32))",
                f"h{k} = {a}.register_hook(lambda g: 3)",
                f"h{k} = {a}.grad_fn.register_hook(lambda gi, go: gi[:-1])",
                f"h{k} = {a}.grad_fn.register_hook(lambda gi, go: list(gi))",
                f"h{k} = {a}.grad_fn.register_prehook(lambda go: go + go)",
                f"h{k} = {a}.register_hook(lambda g: tell('mode', torch.is_grad_enabled(), "
                f"g.requires_grad))",
                f"h{k} = {a}.register_hook(lambda g: tell(torch.autograd.grad("
                f"({leaf} * {leaf}).sum(), {leaf}, allow_unused=True)) if "
                f"torch.is_grad_enabled() else None)",
                f"h{k} = {a}.register_hook(lambda g: {b}.retain_grad())",
                f"with {a}.register_hook(note('with{k}')):\n    "
                f"{p.fresh('d')}, = torch.autograd.grad({a}.sum(), {a}, retain_graph=True)",
                f"h{k} = {a}.grad_fn.next_functions[0][0].register_hook(note('below{k}'))",
                f"h{k} = {a}.grad_fn.next_functions[0][0].register_prehook(note('before{k}'))",
                f"h{k} = {a}.register_hook(note('k{k}'))\n{a}.mul_(2)",
                f"{a}.mul_(2)\nh{k} = {a}.register_hook(note('l{k}'))",
            ]
        )
    )


def batched(p):
    a = p.pick(lambda t: t.grad_fn is not None and t.dtype == p.torch.float64)
    b = p.pick(lambda t: t.requires_grad, letters="v")
    keep = p.choose(["", ", retain_graph=True", ", create_graph=True" if p.higher else ""])
    edge = "torch.autograd.graph.get_gradient_edge"
    p.add(
        p.choose(
            [
                f"x = {a}.detach().requires_grad_()\n{p.fresh('d')}, = torch.autograd.grad("
                f"(x * x).sin(), x, torch.stack([torch.ones_like({a}), torch.zeros_like({a})]), "
                f"is_grads_batched=True{keep})",
                f"torch.autograd.backward({edge}({a}), torch.ones_like({a}){keep})",
                f"{p.fresh('d')}, = torch.autograd.grad({edge}({a}), {b}, torch.ones_like({a})"
                f"{keep})",
                f"{a}.backward(torch.ones_like({a}), inputs=[{edge}({b})]{keep})",
                f"{p.fresh('d')}, {p.fresh('d')} = torch.autograd.grad([{a}.sum(), {a}.sum()], "
                f"[{b}, {a}], allow_unused=True{keep})",
                f"{p.fresh('d')}, = torch.autograd.grad({a}.sum(), [{b}], materialize_grads=True"
                f"{keep})",
                f"{p.fresh('d')}, = torch.autograd.grad({a}, {b}, torch.ones(5){keep})",
                f"{p.fresh('d')}, = torch.autograd.grad({a}.sum(), {a}.detach(){keep})",
                f"torch.autograd.backward([{a}.sum(), {b}.sum()]{keep})",
                f"torch.autograd.backward([{a}.sum()], [None, None]{keep})",
                f"{p.fresh('d')}, = torch.autograd.grad({a}.sum(), {b}.grad_fn{keep})",
                f"{a}.sum().backward(gradient=torch.tensor(2.0, dtype={a}.dtype){keep})",
            ]
        )
    )


def twice(p):
    """A gradient with a graph is differentiated again."""
    if not p.higher:
        return
    d, a = p.fresh("d"), p.pick(lambda t: t.grad_fn is not None)
    b = p.pick(lambda t: t.requires_grad)
    p.add(
        f"{d}, = torch.autograd.grad(({a} * {a}).sum(), {b}, create_graph=True, allow_unused=True)"
    )
    p.add(
        p.choose(
            [
                f"{d}.sum().backward()",
                f"{p.fresh('d')}, = torch.autograd.grad({d}.sum(), {b}, allow_unused=True)",
                f"{d}.mul_(2)",
                f"{p.fresh()} = {d} * {b}",
                f"{d}.register_hook(note('{d}'))",
                f"{b}.mul_(2)",
                f"({d}.sum() + {b}.sum()).backward()",
            ]
        )
    )


def saved(p):
    a = p.pick(lambda t: t.requires_grad and t.dtype == p.torch.float64)
    c = p.like(a)
    hooks = "torch.autograd.graph.saved_tensors_hooks"
    p.add(
        p.choose(
            [
                f"with torch.autograd.graph.save_on_cpu():\n    {p.fresh()} = {a} * {c}",
                f"with torch.autograd.graph.disable_saved_tensors_hooks('no'):\n    "
                f"{p.fresh()} = {a}.sin()",
                f"with torch.autograd.graph.allow_mutation_on_saved_tensors():\n    "
                f"m = {a} * 1\n    n = (m * m).sum()\n    m.zero_()\n    n.backward()",
                f"with {hooks}(lambda t: stop(), lambda t: t):\n    {p.fresh()} = {a}.exp()",
                f"with {hooks}(lambda t: t, lambda t: 3):\n    {p.fresh()} = {a}.exp()",
                f"with {hooks}(lambda t: t, lambda t: t.view(-1)):\n    {p.fresh()} = {a}.exp() * "
                f"{c}",
                f"with {hooks}(lambda t: t.mul_(2), lambda t: t):\n    {p.fresh()} = {a}.exp()",
                f"with {hooks}(lambda t: tell('outer', t), lambda t: t):\n    with {hooks}("
                f"lambda t: tell('inner', t) or t.clone(), lambda t: tell('u', t) or t):\n"
                f"        {p.fresh()} = Both.apply({a}, {c}).tanh()",
                f"s = {a}.sigmoid()\ns.grad_fn._raw_saved_result.register_hooks("
                f"lambda t: t.clone(), lambda t: t * 1)\n{p.fresh()} = s",
                f"s = {a} * {c}\ntell(s.grad_fn._saved_other)\n{p.fresh()} = s",
                f"with torch.autograd.set_detect_anomaly(True, check_nan=False):\n"
                f"    {p.fresh()} = {a}.sqrt()",
            ]
        )
    )


KINDS = {
    make_odd_leaf: 3,
    make_odd_view: 8,
    make_parts: 6,
    write_odd_view: 6,
    write_more: 6,
    write_part: 5,
    nest_modes: 6,
    combine: 8,
    toggle: 8,
    use_functions: 7,
    checkpoint: 2,
    hook_more: 8,
    batched: 5,
    twice: 3,
    saved: 3,
}
