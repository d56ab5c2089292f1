"""What a program uses of PyTorch and whether gradviz has it: read from its text, nothing is run."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata

from gradviz.absent import Absent, absent
from gradviz.notebook.alias import NAME, OURS

from .program import Program

# Methods of PyTorch's tensors that ours lack and that objects of other kinds rarely have.
TENSOR_ONLY = frozenset(absent("torch.Tensor")) - {"indices", "values"}
RUNS_ITS_CELL = ("%%time", "%%timeit", "%%capture", "%%prun", "%%gradviz")
NEED = re.compile(r"^[\w.-]+")  # the name at the start of a requirement
NAME_OF, METHOD, KEYWORD, PACKAGE = "name", "method", "keyword", "package"


@dataclass(frozen=True)
class Use:
    """``name`` as it is told, of one ``kind``, at a line of a cell; ``there``: gradviz has it."""

    name: str
    kind: str
    cell: int
    line: int
    there: bool


def uses(program: Program) -> list[Use]:
    """Every use in the order of the text. Raises SyntaxError, its ``text`` the number of a cell,
    when a cell is not Python.
    """
    trees = [(n, _tree(cell, n)) for n, cell in enumerate(filter(str.strip, program.cells), 1)]
    meant = _meanings([tree for _, tree in trees])
    found = (
        Use(name, kind, n, at.lineno, there)
        for n, tree in trees
        for name, kind, at, there in _uses(tree, meant)
    )
    return sorted(dict.fromkeys(found), key=lambda use: (use.cell, use.line))


def _tree(cell, number):
    """The syntax of a cell, its lines where they stand, what is for IPython made Python."""
    from IPython.core.inputtransformer2 import TransformerManager

    first, _, rest = cell.lstrip().partition("\n")
    above = cell[: len(cell) - len(cell.lstrip())].count("\n")
    if first.startswith("%%"):
        above += 1
        cell = rest if first.split()[0] in RUNS_ITS_CELL else ""
        above += cell[: len(cell) - len(cell.lstrip())].count("\n")
    try:
        tree = ast.parse(TransformerManager().transform_cell(cell))
    except SyntaxError as error:
        raise SyntaxError(
            error.msg, (None, (error.lineno or 1) + above, None, str(number))
        ) from None
    return ast.increment_lineno(tree, above)


def _meanings(trees) -> dict[str, str]:
    """``{"F": "torch.nn.functional"}``: what a name stands for in the whole program; left out when
    something else is ever stored under it.
    """
    meant: dict[str, str] = {}
    other = set()
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            meant |= {bound: full for bound, full in _imported(node) if bound}
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            other.add(node.id)
        elif isinstance(node, ast.arg):
            other.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            other.add(node.name)
    return {bound: full for bound, full in meant.items() if bound not in other}


def _imported(node) -> Iterator[tuple[str | None, str]]:
    """(name that is bound, what it stands for) of an import."""
    if isinstance(node, ast.Import):
        for one in node.names:
            bound = one.asname or one.name.partition(".")[0]
            yield bound, one.name if one.asname else bound
            yield None, one.name
    elif node.module and not node.level:
        for one in node.names:
            star = one.name == "*"
            yield (
                None if star else one.asname or one.name,
                (node.module if star else f"{node.module}.{one.name}"),
            )


def _uses(tree, meant) -> Iterator[tuple]:
    """(name, kind, node, there)"""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for _, full in _imported(node):
                if is_torch(full):
                    yield _known(full, node)
                elif needs_torch(full.partition(".")[0]):
                    yield full.partition(".")[0], PACKAGE, node, False
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            chain = _dotted(node, meant)
            if chain is None and node.attr in TENSOR_ONLY:
                yield f"Tensor.{node.attr}", METHOD, node, False
            elif chain is not None and is_torch(chain) and id(node) not in inner:
                yield _known(chain, node)
        elif isinstance(node, ast.Call):
            yield from _keywords(node, meant)


def _known(full, node):
    name, found = resolve(full)
    return name, NAME_OF, node, found is not None


def _keywords(call, meant):
    """Keywords of a call that our function does not know."""
    full = _dotted(call.func, meant)
    if full is None or not is_torch(full):
        return
    _, function = resolve(full)
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg not in parameters:
            yield f"{full}(…, {keyword.arg}=)", KEYWORD, call, False


def _dotted(node, meant) -> str | None:
    """``torch.nn.Linear`` for what a chain of attributes stands for; None when it starts with a
    value, not with something that was imported.
    """
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in meant:
        return None
    return ".".join([meant[node.id], *reversed(parts)])


def is_torch(full: str) -> bool:
    """Whether a dotted name is PyTorch's."""
    return full == NAME or full.startswith(NAME + ".")


@cache
def resolve(full: str) -> tuple[str, object]:
    """(``full``, the object) where gradviz has it; (the shortest part that it lacks, None) where
    not. What hangs on a value, not on a module or a class, is not looked at.
    """
    found, parts = importlib.import_module(OURS), full.split(".")
    for count, part in enumerate(parts[1:], 2):
        path = ".".join(parts[:count])
        try:
            found = _attribute(found, part, OURS + path.removeprefix(NAME))
        except AttributeError:
            return path, None
        if isinstance(found, Absent):
            return path, None
        if not inspect.ismodule(found) and not inspect.isclass(found):
            break
    return full, found


def _attribute(owner, part, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return getattr(owner, part)
        except AttributeError:
            if not inspect.ismodule(owner):
                raise
    try:
        return importlib.import_module(path)
    except ImportError:
        raise AttributeError(part) from None


@cache
def needs_torch(package: str) -> bool:
    """Whether a package builds on PyTorch: by its name, or by what it says it requires."""
    if package.startswith(NAME):
        return True
    needs = (
        need for one in _distributions().get(package, ()) for need in metadata.requires(one) or ()
    )
    return any(NEED.findall(need)[:1] == [NAME] for need in needs if "extra ==" not in need)


@cache
def _distributions():
    return metadata.packages_distributions()
