"""``explain(x)``: why the gradient of a tensor is what it is."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator

from gradviz.doctor.severed import severances, upstream, way_of
from gradviz.doctor.where import place_of
from gradviz.export.words import figure
from gradviz.sources import reading
from gradviz.sources.reading import node_of
from gradviz.sources.rows import tensor_id
from gradviz.sources.values import norm
from gradviz.texts import catalogue, language, text
from gradviz.watch.case import Case
from gradviz.watch.names import best
from gradviz.watch.program import calls, names_in, receiver

from .answer import Answer, inert
from .moment import Moment, asking, now, within

BOX = "border:1px solid #9aa1ac;border-radius:6px;padding:1px 7px;margin:0 2px;white-space:nowrap"
SCISSORS = "✂"
SIMPLE = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.UnaryOp,
    ast.USub,
    ast.expr_context,
)
CUT = "color:#dc2626;font-weight:700;padding:0 4px"


class Explanation(Answer):
    """``reason``: a word for it (``cut``, ``nonleaf``, ``no_backward`` …); ``place``: the line at
    fault, or None; ``path``: what lies between the tensor and the end of its gradient's way.
    """

    def __init__(self, reason, said, where, path):
        super().__init__(said, [])
        self.reason, self.place, self.path = reason, where, path

    def __repr__(self):
        return self.text + (f"\n  {' → '.join(self.path)}" if self.path else "")

    def _table(self):
        lines = "".join(f"<div>{inert(line)}</div>" for line in self.text.splitlines()[1:])
        return lines + f'<div style="padding:6px 0">{"→".join(map(_drawn, self.path))}</div>'


def _drawn(step):
    cut = step.startswith(SCISSORS)
    return f'<span style="{CUT if cut else BOX}">{inert(step)}</span>'


def explain(x=None, name: str = "") -> Explanation:
    """Why ``x.grad`` is what it is, in words, with the line at fault.

    ``x`` is a tensor; ``explain(h.grad)`` is understood too, as a question about ``h``. ``name`` is
    what to call it (default: the expression that was written). Raises TypeError for anything else.
    """
    frame = asking()
    if not reading.is_tensor(x) or _is_gradient(frame):
        x, name = _owner(x, frame, name)
    if not reading.is_tensor(x):
        raise TypeError(text("ask.needs_tensor", type=type(x).__name__))
    return answer(x, name, now(frame))


def answer(tensor, name: str, moment: Moment) -> Explanation:
    """The explanation of ``tensor`` at a moment; for callers that know both."""
    case = moment.source.case(moment.roots)
    try:
        return _Question(tensor, name, moment, case).answered()
    finally:
        moment.source.release()


# -- what was asked ---------------------------------------------------------------
def _written(frame):
    """The argument of ``explain(…)`` as it is written on the line that asks."""
    if frame is None:
        return None
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    try:
        tree = ast.parse(line)
    except (SyntaxError, ValueError):
        return None
    for part in ast.walk(tree):
        if isinstance(part, ast.Call) and ast.unparse(part.func).endswith("explain") and part.args:
            return part.args[0]
    return None


def _is_gradient(frame):
    written = _written(frame)
    return isinstance(written, ast.Attribute) and written.attr == "grad"


def _owner(x, frame, name):
    """The tensor whose gradient was asked for, and what it is called."""
    written = _written(frame)
    if not isinstance(written, ast.Attribute) or written.attr != "grad":
        return x, name
    if not simple(written.value):
        return x, name
    owner = ast.unparse(written.value)
    return look_up(owner, {**frame.f_globals, **frame.f_locals}), name or owner


def look_up(expression: str, names: dict):
    """What ``expression`` (names, attributes, constant items) stands for.

    Raises ValueError for other expressions, and what looking it up raises.
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(text("ask.not_simple", said=expression)) from error
    if not simple(tree.body):
        raise ValueError(text("ask.not_simple", said=expression))
    return eval(compile(tree, "<gradviz>", "eval"), {"__builtins__": {}}, names)


def explain_text(expression: str, names: dict) -> Explanation:
    """The explanation of an expression such as ``h`` or ``h.grad``. Raises as :func:`look_up`, and
    TypeError for anything but a tensor.
    """
    name = expression.strip().removesuffix(".grad")
    found = look_up(name, names)
    if not reading.is_tensor(found):
        raise TypeError(text("ask.needs_tensor", type=type(found).__name__))
    return answer(found, name, within(names))


def simple(node) -> bool:
    """An expression of names, attributes and constant items only: looking at it runs nothing."""
    return all(isinstance(part, SIMPLE) for part in ast.walk(node))


# -- the answer -------------------------------------------------------------------
class _Question:
    """One tensor, at one moment."""

    def __init__(self, tensor, name, moment, case: Case):
        self.tensor, self.moment, self.case = tensor, moment, case
        self.id, self.own = tensor_id(tensor), reading.leaf_id(tensor)
        self.name = name or self._name()
        self.account = case.ledger.leaves.get(self.own)
        self.sweeps = [s for s in case.ledger.sweeps if not s.error]

    def _name(self):
        paths = [(h.steps, h.path) for h in self.case.held if h.facts.own == self.own]
        return best(paths) or "x"

    def answered(self):
        """The first reason that fits."""
        if reading.grad(self.tensor) is not None:
            return self._has_gradient()
        if reading.edge(self.tensor) is None:
            return self._untracked()
        return self._leaf() if reading.is_leaf(self.tensor) else self._result()

    def say(self, reason, where=None, path=(), **fields):
        """An explanation with the sentence of ``reason``."""
        at = text("notebook.place.none") if where is None else self.moment.where(where)
        said = text(f"ask.grad.{reason}", name=self.name, place=at, **fields)
        advice = f"grad_advice.{reason}"
        if advice in catalogue("ask"):
            said += "\n" + text(f"ask.{advice}", name=self.name)
        return Explanation(reason, said, where, [self.name, *path] if path else [])

    # -- there is one --------------------------------------------------------------
    def _has_gradient(self):
        length = norm(reading.value(reading.grad(self.tensor)))
        runs = self.account.run if self.account is not None else []
        last = self.case.ledger.sweep(runs[-1][0]) if runs else None
        where = self.case.place(last.note) if last is not None else None
        if length == 0:
            return self.say("zero", where)
        reason = "present" if runs else "present_unseen"
        shown = "..." if length is None else figure(float(length))  # on meta there is no number
        return self.say(reason, where, norm=shown, count=len(runs))

    # -- not tracked -----------------------------------------------------------------
    def _untracked(self):
        cut = self._cut()
        if cut is not None:
            where = self.case.place(cut.note)
            return self.say("cut", where, self._way(where, cut.how), how=_how(cut.how))
        if not reading.can_have_gradient(self.tensor):
            return self.say("integer", dtype=str(self.tensor.dtype).removeprefix("torch."))
        found = self._severed_by_text()
        if found is not None:
            where = place_of(self.case, found.statement)
            how = way_of(found)[language()]
            return self.say("cut", where, self._way(where, found.how), how=how)
        return self.say("untracked")

    def _cut(self):
        """The line that took this very tensor out of a graph."""
        for cut in self.case.cuts:
            if any(ref() is self.tensor for ref in cut.results):
                return cut
        return None

    def _severed_by_text(self):
        top = [s for s in self.case.cells.statements if s.function is None]
        if not self.name.isidentifier() or not top:
            return None
        found = next(severances(self.case, {self.name}, top[-1]), None)
        names = upstream(self.case, found) if found is not None else ()
        held = self.moment.roots.user_ns
        return found if any(_has_tracked(held[name]) for name in names if name in held) else None

    def _way(self, where, how):
        return [where.code if where is not None else "", f"{SCISSORS} {how}"]

    # -- a result ----------------------------------------------------------------------
    def _result(self):
        node = node_of(self.tensor)
        chain = self.case.places.chain(self.moment.source.watcher.note(node))
        where = chain[0] if chain else None
        asked = any(kind == "retain_grad" for kind, _ in reading.hooks(node))
        if asked:
            return self.say("retained_late" if self._swept_above() else "no_backward", where)
        return self.say("nonleaf", where, op=node.name())

    def _swept_above(self):
        leaves = self.case.graph.weigh([self.id]).leaves
        return any(s.serial > self.id and s.leaves & leaves for s in self.sweeps)

    # -- a leaf -------------------------------------------------------------------------
    def _leaf(self):
        if self.account is not None and self.account.total:
            return self.say("cleared", count=self.account.total)
        if not self.moment.watched:
            return self._leaf_unwatched()
        accumulating = [s for s in self.sweeps if s.accumulates]
        if not self.sweeps:
            return self.say("no_backward", self._user())
        found = self._severed_upstream()
        if found is not None:
            where, how = place_of(self.case, found.statement), way_of(found)[language()]
            return self.say("severed", where, self._way(where, found.how), how=how)
        return self._used_where(accumulating)

    def _used_where(self, accumulating):
        hidden = next((c for c in self.case.cuts if c.how in HIDING and self.own in c.leaves), None)
        if hidden is not None:
            where = self.case.place(hidden.note)
            return self.say("severed", where, self._way(where, hidden.how), how=_how(hidden.how))
        using = self._using()
        if using and not accumulating:
            return self.say("only_asked", self._user())
        if using:
            return self.say("pending", self._user(), other=using)
        return self.say("unused")

    def _leaf_unwatched(self):
        using = self._using()
        return self.say("pending", self._user(), other=using) if using else self.say("unwatched")

    def _using(self):
        """The name of a held result that was computed from the leaf, or ''."""
        for held in self.case.held:
            if held.facts.attached and self.own in self.case.graph.weigh([held.facts.id]).leaves:
                return self.case.named(held.facts.id) or held.path
        return ""

    def _user(self):
        """The line of the oldest held operation that uses the leaf."""
        tops = [h.facts.id for h in self.case.held if h.facts.attached]
        for seq in sorted(self.case.graph.weigh(tops).nodes if tops else ()):
            if any(leaf and i == self.own for _, i, leaf in self.case.graph.inputs(seq)):
                return self.case.place(self.case.graph.note(seq))
        return None

    def _severed_upstream(self):
        """The line between the leaf and something that backward() was called on."""
        name = self.name.split(".")[0].split("[")[0]
        for sweep in reversed(self.sweeps):
            at = self.case.place(sweep.note)
            start = self.case.cells.calling_at(at, "backward")
            for found in severances(self.case, _swept(start), start) if start else ():
                if name in upstream(self.case, found):
                    return found
        return None


HIDING = ("no_grad", "inference_mode")


def _has_tracked(value):
    """A tensor that requires grad, or a module or a list of such."""
    inside = value.parameters() if hasattr(value, "parameters") else value
    parts = inside if isinstance(inside, list | tuple | Iterator) else (value,)
    return any(reading.is_tensor(part) and part.requires_grad for part in parts)


def _swept(statement):
    owners = [receiver(call) for call in calls(statement.node, "backward")]
    return set().union(*(names_in(owner) for owner in owners if owner is not None), ())


def _how(how):
    return text(f"ask.cut.{how}" if f"cut.{how}" in catalogue("ask") else "ask.cut.other", how=how)
