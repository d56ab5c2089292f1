"""Which line put it there: from a path to the statement that wrote into it."""

from __future__ import annotations

import ast

from gradviz.texts import both
from gradviz.watch.case import Case, Held
from gradviz.watch.cells import Cells
from gradviz.watch.model import Place
from gradviz.watch.program import (
    GETTING,
    PLAIN_CALLS,
    Statement,
    Write,
    called,
    names_in,
    own_expressions,
    targets,
    tokens,
    writes,
)

INNER = ("item", "attribute", "buffer", "closure", "default", "kwdefault")


def place_of(case: Case, statement: Statement | None) -> Place | None:
    """The place of a statement."""
    if statement is None:
        return None
    return line_of(case, statement.cell, statement.line)


def line_of(case: Case, cell: int | None, line: int | None) -> Place | None:
    """The place of a line of a cell."""
    return None if line is None else case.cells.place(cell, line)


def put(case: Case, group: list[Held], plain: bool = False) -> Place | None:
    """The statement that put the tensors of ``group`` into their holder; else where the newest was
    made.

    ``plain``: the tensors carry no graph, so a detached value is what is looked for.
    """
    held = group[-1]
    wanted = held.tokens | default_names(case.cells, held)
    made = names_bound_at(case, held)
    best, best_score = None, 0
    words = {word for word in wanted | made if word.isidentifier()}
    near = {statement.cell for statement in case.cells.mentioning(*words)}
    owners = list(held.link.owners())
    own = {o.__name__ if isinstance(o, type) else type(o).__name__ for o in owners}
    near |= {statement.cell for statement in case.cells.classes(*own)}
    for statement in case.cells.within(near):
        for write in writes(statement):
            if any(s.owner in own for s in case.cells.methods(write.method)):
                continue  # the line in that method is meant
            write.into = _unaliased(case.cells, write)
            score = _score(case.cells, write, wanted, made, held, statement, plain)
            if not write.into and statement.owner in own and not write.whole:
                score = 10 + 5 * bool(write.values)
            if score and score >= best_score:
                best, best_score = statement, score
    found = best or _made_of(case, held) or _handed(case, held, made)
    return place_of(case, found) or held.facts.place


def _handed(case, held, made):
    """The call that gave a tensor to what is no container by its looks: ``writer(loss)``."""
    for statement in reversed(case.cells.mentioning(held.root) if len(held.steps) > 1 else ()):
        for part in own_expressions(statement.node):
            if isinstance(part, ast.Call) and held.root in tokens(part.func)[:1]:
                given = [*part.args, *(k.value for k in part.keywords)]
                if any(made & names_in(value) for value in given):
                    return statement
    return None


def _made_of(case, held):
    """The call that gave a container its name, when nothing else is known to fill it:
    ``df = pd.DataFrame(rows)``.
    """
    made = bound(case, held.root) if len(held.steps) > 1 and held.category == "container" else None
    value = getattr(made.node, "value", None) if made is not None else None
    filled = isinstance(value, ast.Call) and (value.args or value.keywords)
    return made if filled and made.function is None else None


def stored(case: Case, place: Place | None, group: list[Held]) -> dict[str, str]:
    """What to store instead of what a line puts somewhere, in its own words: ``loss.item() or
    loss.detach()``; a text a language.
    """
    statement = writing(case, place, group[-1])
    value = _given(case, statement, group[-1]) if statement is not None else ""
    numbers = all(held.facts.shape == () for held in group)
    return both(f"findings.store.{'number' if numbers else 'tensor'}", value=value or "x")


def writing(case: Case, place: Place | None, held: Held) -> Statement | None:
    """Of the statements that share a line, the one that writes what ``held`` is found by."""
    here = case.cells.on(*case.cells.line(place))
    wanted = [s for s in here if any(held.tokens & set(w.into[-1:]) for w in writes(s))]
    return wanted[-1] if wanted else case.cells.at(*case.cells.line(place))


def _given(case, statement, held):
    """The plainest expression in what the statement puts that stands for the tensor: a name that
    the tensor had, else a call that gave it, else a name.
    """
    made, own = names_bound_at(case, held), {ast.unparse(t) for t in targets(statement.node)}
    values = [value for write in writes(statement) for value in write.values]
    counters = {t.id for t in _counters(statement, values) if isinstance(t, ast.Name)} | own
    known = [name for value in values for name in _names(value) if name.split(".")[-1] in made]
    parts = [part for value in values for part in _parts(value, own)]
    atoms = ast.Name | ast.Attribute | ast.Subscript
    named = [ast.unparse(p) for p in parts if isinstance(p, atoms)]
    made_here = [ast.unparse(p) for p in parts if isinstance(p, ast.Call)]
    made_here += [f"({ast.unparse(p)})" for p in parts if isinstance(p, ast.BinOp)]
    for found in (known, made_here, named):
        fit = [text for text in found if text not in counters]
        if fit:
            return min(fit, key=len)
    return ""


def _counters(statement, values):
    """What the loops around a statement, and the comprehensions in it, count with."""
    for loop in statement.loops:
        yield from targets(loop)
    for part in (part for value in values for part in ast.walk(value)):
        if isinstance(part, ast.comprehension):
            yield from ast.walk(part.target)


def _names(value):
    """The names and attributes in an expression, but not those of functions that are called."""
    parts = [p for p in ast.walk(value) if isinstance(p, ast.Name | ast.Attribute)]
    return [ast.unparse(p) for p in parts if not _is_called(value, p)]


def _parts(value, own):
    """What an expression is put together from: the elements of containers, and the terms of a sum
    that ``own`` take part in.
    """
    adding = isinstance(value, ast.BinOp)
    adding = adding and any(ast.unparse(part) in own for part in ast.walk(value))
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.BinOp) and adding:
            pending += part.left, part.right
        elif isinstance(part, ast.Tuple | ast.List | ast.Set):
            pending += part.elts
        elif isinstance(part, ast.Dict):
            pending += part.values
        elif isinstance(part, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            pending.append(part.elt)
        elif isinstance(part, ast.DictComp):
            pending.append(part.value)
        elif isinstance(part, ast.Call) and called(part) == "partial":
            pending += [*part.args[1:], *(word.value for word in part.keywords)]
        elif not (isinstance(part, ast.Call) and called(part) in PLAIN_CALLS):
            yield part


def _is_called(value, part):
    """Part of the name of a function that is called in ``value``."""
    calls_in = [c.func for c in ast.walk(value) if isinstance(c, ast.Call)]
    return any(part is inner for func in calls_in for inner in ast.walk(func))


def _score(cells: Cells, write: Write, wanted, made, held, statement, plain):
    """How well a write fits: its target must end in a name of the path, its value still carry a
    graph.
    """
    carried = (
        set().union(*(names_in(value, plain) for value in write.values)) if write.values else set()
    )
    if not carried and not any(isinstance(value, ast.Call | ast.BinOp) for value in write.values):
        return 0
    if write.variable and write.whole and write.into[-1] in _keys(held):
        return 0
    fits = len(wanted.intersection(write.into))
    carries = bool(made & carried) or _is_where_made(cells, held, statement)
    carries |= _collects(write) and _called_from(cells, held, statement)
    inside = any(step.kind in INNER for step in _own_steps(held))
    made_here = write.whole and len(write.into) == 1 and inside and not carries
    handed_on = not write.variable and isinstance(write.values[0], ast.Name)
    if write.into and write.into[-1] in wanted and (handed_on or not made_here):
        return 10 * fits + 5 * carries + (not write.whole)
    alias = bool(write.into) and not write.whole and carries and statement.function is not None
    return 4 if alias and _in_chain(held, statement) else 0


def _unaliased(cells, write):
    """What a local variable that is added to stands for: ``bucket = self.store[key]``."""
    function = write.statement.function
    if write.whole or len(write.into) != 1 or function is None:
        return write.into
    for other in cells.assignments(write.into[0]):
        value = getattr(other.node, "value", None)
        if other.function is function and isinstance(
            value, ast.Attribute | ast.Subscript | ast.Call
        ):
            found = tokens(value)
            return found if found and not _makes(value) else write.into
    return write.into


def _makes(value):
    """A call that makes something new, not one that gets what is there."""
    return isinstance(value, ast.Call) and called(value) not in GETTING


def _keys(held):
    """Keys and attributes along the path that are not variables of the same name too."""
    inner = {str(s.name).strip("'\"") for s in held.steps if s.kind in ("item", "attribute")}
    return inner - {str(s.name) for s in held.steps if s.kind not in ("item", "attribute")}


def _is_where_made(cells, held, statement):
    unit, line = cells.line(held.facts.place)
    end = statement.node.end_lineno or statement.line
    return line is not None and unit == statement.cell and statement.line <= line <= end


def _own_steps(held):
    """The steps of a path; of one that goes through an exception, those with names of a person's
    that lead to it.
    """
    if held.category != "traceback":
        return held.steps
    frames = [i for i, step in enumerate(held.steps) if step.kind == "frame"]
    before = held.steps[: frames[0]] if frames else held.steps
    return [s for s in before if not (str(s.name).startswith("__") or str(s.name).isdigit())]


def _collects(write):
    """The write makes its container from what an expression gives again and again."""
    kinds = ast.ListComp | ast.DictComp | ast.SetComp | ast.GeneratorExp
    return any(isinstance(p, kinds) for value in write.values for p in ast.walk(value))


def _called_from(cells, held, statement):
    """The statement called the function that made the tensor."""
    end = statement.node.end_lineno or statement.line
    lines = [cells.line(place) for place in held.facts.chain[1:]]
    return any(u == statement.cell and statement.line <= line <= end for u, line in lines)


def _in_chain(held, statement):
    names = {place.function for place in held.facts.chain}
    return statement.function.name in names


def names_bound_at(case: Case, held: Held) -> set[str]:
    """Names that the statement which made the tensor binds, and what they are returned as to
    callers.
    """
    out: set[str] = set()
    for place in held.facts.chain:
        for statement in case.cells.on(*case.cells.line(place)):
            for target in targets(statement.node):
                out.update(tokens(target)[-1:])
    return out


def default_names(cells: Cells, held: Held) -> set[str]:
    """Names of the parameter whose default value the path goes through."""
    out: set[str] = set()
    for before, step in zip(held.steps, held.steps[1:], strict=False):
        if step.kind in ("default", "kwdefault"):
            statement = cells.function(str(before.name))
            node = statement.node if statement is not None else None
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and step.kind == "default":
                taken = node.args
                arguments, defaults = [*taken.posonlyargs, *taken.args], len(taken.defaults)
                at = len(arguments) - defaults + int(step.name)
                if 0 <= at < len(arguments):
                    out.add(arguments[at].arg)
            out.add(str(step.name))
    return out


def bound(
    case: Case, name: str, attribute: bool = False, before: int | None = None
) -> Statement | None:
    """The newest statement that binds a name or attribute (in cells up to ``before``)."""
    found = [
        s for s in case.cells.assignments(name, attribute) if before is None or s.cell <= before
    ]
    return found[-1] if found else None


def displayed(case: Case, cell: int) -> Place | None:
    """The line at the end of a cell whose value was shown."""
    return place_of(case, case.cells.last_expression(cell))
