"""An operation as it was declared, and the derivative runner that is written out from it.

``RAW`` and ``TENSOR`` hold every operation under its name, on arrays and on tensors: a
derivative written as ``lambda F, g, self: g * F.cos(self)`` serves first order with F = RAW and any
order with F = TENSOR.
"""

from __future__ import annotations

import functools
import operator

from . import saved
from .modes import native
from .node import FREED, MultiNode, Node, freed


class Namespace:
    """Operations by name."""

    def __repr__(self):
        return f"<{self.label} operations>"


RAW = Namespace()
RAW.label = "raw"
TENSOR = Namespace()
TENSOR.label = "tensor"
EVERY: list[Op] = []  # all that were declared
RAW.read, TENSOR.read = saved.read_array, saved.read_tensor
RAW.result, TENSOR.result = saved.result_array, saved.result_tensor


class Op:
    """One declared operation.

    ``derivatives``: one function an input or None; ``joint``: one function for all inputs at once.
    Their parameters after ``F, g`` name what they need: an input, ``result``, an attribute,
    ``<input>_shape``, or ``needs`` (which inputs want one). Inputs that have no derivative come
    last: they get no edge, ``edges`` counts those that do. ``also`` (name to function of the node)
    and ``hidden`` adapt the ``_saved_`` names to PyTorch's. ``with_number``: the function that
    stands for the operation, inside derivatives, where its second operand is a number. ``empty``:
    what a node that saves no tensor keeps, ``(None, None)`` where PyTorch saves indices all the
    same; such a node keeps index tensors too (kept.py). ``no_tangents``: PyTorch's name of what has
    no forward derivative there; with ``_`` at its end, in place only.
    """

    __slots__ = (
        "again",
        "also",
        "attr_names",
        "with_number",
        "derivatives",
        "edges",
        "empty",
        "formula",
        "forward",
        "hidden",
        "input_names",
        "joint",
        "name",
        "no_tangents",
        "node",
        "outputs",
        "saved_attrs",
        "saved_by",
        "saved_inputs",
        "saved_mask",
        "saved_names",
        "saved_pairs",
        "saves_result",
        "shaped",
        "view",
        "wide",
        "words",
    )

    def __init__(
        self, name, forward, inputs, attrs, derivatives, joint, node, formula, view, outputs
    ):
        self.name, self.forward = name, forward
        self.wide = None  # reads operands so that a number beside half precision stays single
        self.again = forward  # of a view: taken anew, when its storage was modified
        self.input_names, self.attr_names = inputs, attrs
        self.joint, self.formula, self.view, self.outputs = joint, formula, view, outputs
        self.derivatives = tuple(derivatives.get(i) for i in inputs)
        known = [k for k, d in enumerate(self.derivatives) if d is not None]
        self.edges = len(inputs) if joint is not None else max(known, default=-1) + 1
        self.derivatives = self.derivatives[: self.edges]
        self.also, self.hidden, self.empty = {}, (), ()
        self.with_number = self.no_tangents = None
        self.node = type(
            node,
            (MultiNode if outputs else Node,),
            {"__slots__": (), "op": self, "__module__": "builtins"},
        )
        if node == "NotImplemented":
            self.node.name = lambda node: "torch::autograd::NotImplemented"
        self._plan()
        EVERY.append(self)

    def has_gradient(self, nr):
        """Whether output ``nr`` of a node with several is differentiable."""
        flags = self.outputs
        return flags is True or flags[min(nr, len(flags) - 1)]

    def _plan(self):
        wants = (
            [parameters(d) for d in self.derivatives]
            if self.joint is None
            else [parameters(self.joint)]
        )
        named = [n for names in wants for n in names]
        self.saves_result = "result" in named
        self.saved_inputs = [i for i, n in enumerate(self.input_names) if n in named]
        self.saved_names = [self.input_names[i] for i in self.saved_inputs]
        self.saved_by = [
            sum(1 << k for k, names in enumerate(wants) if self.input_names[i] in names)
            if self.joint is None
            else -1
            for i in self.saved_inputs
        ]
        # None: saved whichever inputs are tracked; else which of them make it needed
        wanted_by = [None if by & (by - 1) or self.edges == 1 else by for by in self.saved_by]
        self.saved_pairs = tuple(zip(self.saved_inputs, wanted_by, strict=True))
        always = self.joint is not None or None in wanted_by
        self.saved_mask = (
            None if always and wanted_by else functools.reduce(operator.or_, wanted_by, 0)
        )
        self.shaped = [i for i, n in enumerate(self.input_names) if f"{n}_shape" in named]
        self.saved_attrs = {n: k for k, n in enumerate(self.attr_names) if n in named}
        self.words = [[self._word(n) for n in names] for names in wants]
        self.node.inputs = self.edges if self.joint is None and self.edges < 3 else 0
        self.node.run, self.node.first = _on_first_use(self)

    def _word(self, name):
        """How ``run`` gets at what a derivative's parameter names."""
        if name == "result":
            return "F.result(node)"
        if name == "needs":
            return "[x is not None for x in node.e]"
        if name in self.input_names:
            return _input_word(2 * self.saved_names.index(name))
        if name in self.attr_names:
            return f"at[{self.attr_names.index(name)}]"
        if name.endswith("_shape"):
            place = self.shaped.index(self.input_names.index(name.removesuffix("_shape")))
            return f"at[{len(self.attr_names) + place}]"
        raise TypeError(
            f"derivative of {self.name} names {name!r}, which the operation does not have"
        )


def _input_word(k):
    return f"None if s[{k}] is None else F.read(s[{k}], s[{k + 1}])"


def parameters(function):
    """Names of a derivative's parameters after ``F, g``."""
    if function is None:
        return ()
    code = function.__code__
    return code.co_varnames[2 : code.co_argcount]


def _on_first_use(op):
    """Stand in for ``runner(op)`` until a node of ``op`` first runs: importing compiles nothing."""

    def run(node, g, F):
        op.node.run = runner(op)
        return op.node.run(node, g, F)

    def first(node, g, keep):
        op.node.first = first_runner(op)
        return op.node.first(node, g, keep)

    return run, first


def runner(op):
    """``run(node, g, F)``: the gradients for the inputs of a node, from ``g`` (a tuple where there
    are several outputs).

    Written out once an operation, so that nothing is looked up while the sweep goes: for ``mul`` it
    reads ``(self(F, g, F.read(s[2], s[3])) if e[0] is not None else None, other(F, g, F.read(s[0],
    s[1])) if e[1] …)``.
    """
    lines = [
        "def run(node, g, F):",
        *_opening(op),
        "    if F is RAW:",
        *(f"        {line}" for line in _read_once(op)),
        f"        return {_gradients(op)}",
        "    with native():",
        *_in_turn(op),
    ]
    return _written("run", lines, op)


def _in_turn(op):
    """Lines that compute the gradients on tensors one by one, by the names of the inputs: in that
    order PyTorch records them.
    """
    if op.joint is not None or op.edges < 2:
        return [
            *(f"        {line}" for line in _read_once(op)),
            f"        return {_gradients(op)}",
        ]
    reads = _in_order(op, [word for words in op.words for word in words if "F." in word])
    names = {word: f"v{k}" for k, word in enumerate(reads)}
    turns = sorted(range(op.edges), key=lambda k: op.input_names[k])
    return [
        # nothing at all is saved where nobody wants the gradient that needs it
        *(
            f"        {name} = {word.replace('None if s[', 'None if not s or s[')}"
            for word, name in names.items()
        ),
        *(f"        g{k} = {_spell(op, k, names)} if e[{k}] is not None else None" for k in turns),
        f"        return ({', '.join(f'g{k}' for k in range(op.edges))})",
    ]


def first_runner(op):
    """``first(node, g, keep)``: the same in first order, on arrays; what the node saved is dropped
    unless ``keep``. A node with one edge gives its gradient bare.

    Saved values are read without a call while they are plain tensors at the version they were
    saved at.
    """
    lines = ["def first(node, g, keep):", *_opening(op)]
    reading = {f"F.read(s[{2 * k}], s[{2 * k + 1}])": f"v{k}" for k in range(len(op.saved_inputs))}
    gradients = "\n    ".join([*_read_once(op), f"grads = {_gradients(op, op.node.inputs == 1)}"])
    words = "".join(word for words in op.words for word in words)
    if op.saves_result and not op.outputs and "F.result(node)" in words:
        reading["F.result(node)"] = (
            "(r[0] if r.__class__ is tuple and r[1][0] == r[2] else F.result(node))"
        )
        lines.append("    r = node.r")
    for call, name in reading.items():
        if name.startswith("v"):
            k = 2 * int(name[1:])
            short = (
                f"(x._a if (x := s[{k}])._v is None or x._v[0] == (s[{k + 1}] or 0) else {call})"
            )
            gradients = gradients.replace(call, short)
        else:
            gradients = gradients.replace(call, name)
    lines.append(f"    {gradients}")
    if op.saved_inputs or op.empty:
        lines += ["    if not keep and s:", "        node.s = FREED"]
    if op.saves_result:
        lines += ["    if not keep:", "        node.r = FREED"]
    return _written("first", [*lines, "    return grads"], op)


def _in_order(op, words):
    """What a node saved, each once, in the order in which PyTorch unpacks it: inputs by their
    names, then results.
    """
    names = {_input_word(2 * k): (0, name) for k, name in enumerate(op.saved_names)}
    return sorted(dict.fromkeys(words), key=lambda word: names.get(word, (1, "")))


def _read_first(op):
    """What is read before anything is computed, and the names it gets: where several derivatives
    need it (an unpack hook is called once a tensor), or where they do not need it in that order.
    """
    words = [word for words in op.words for word in words if "F." in word]
    order = _in_order(op, words)
    return {} if words == order else {word: f"w{k}" for k, word in enumerate(order)}


def _read_once(op):
    return [
        f"{name} = {word.replace('None if s[', 'None if not s or s[')}"
        for word, name in _read_first(op).items()
    ]


def _opening(op):
    lines = ["    __tracebackhide__ = True"]
    if op.saved_inputs or op.empty:
        lines += ["    s = node.s", "    if s is FREED:", "        freed(node)"]
    if op.empty:
        lines.append(f"    check_kept(s, {2 * len(op.saved_inputs)})")
    if any(word.startswith("at[") for words in op.words for word in words):
        lines.append("    at = node.at")
    if op.joint is None and op.edges > 1:
        lines.append("    e = node.e")
    return lines


def _gradients(op, bare=False):
    first = _read_first(op)
    if op.joint is not None:
        return f"joint(F, g, {', '.join(first.get(word, word) for word in op.words[0])})"
    if op.edges == 1:
        return _spell(op, 0, first) if bare else f"({_spell(op, 0, first)},)"
    calls = [f"{_spell(op, k, first)} if e[{k}] is not None else None" for k in range(op.edges)]
    return f"({', '.join(calls)},)" if calls else "()"


def _written(name, lines, op):
    from .kept import check_kept

    scope = {"FREED": FREED, "freed": freed, "check_kept": check_kept}
    scope |= {"joint": op.joint, "F": RAW, "RAW": RAW, "native": native}
    scope |= {f"d{k}": d for k, d in enumerate(op.derivatives)}
    exec(compile("\n".join(lines), f"<derivative of {op.name}>", "exec"), scope)  # noqa: S102
    return scope[name]


_NONE = {}
_IDENTITY = (lambda F, g: g).__code__.co_code


def _spell(op, k, names=_NONE):
    """The call of derivative ``k``, what it needs under other ``names`` where there are some; one
    that only passes the gradient on is not called at all.
    """
    d = op.derivatives[k]
    if d is None:
        return "None"
    if not op.words[k] and d.__code__.co_code == _IDENTITY:
        return "g"
    return f"d{k}(F, g, {', '.join(names.get(word, word) for word in op.words[k])})"
