"""The table of operations: from their declarations."""

from functools import partial

import gradviz.nn  # noqa: F401 (declares the operations of the layers)
from gradviz.engine.operation import TENSOR
from gradviz.ops.declare import OPERATIONS
from gradviz.texts.formulas import told

NAME = "operations"
WORDS = {
    "en": {
        "title": "Operations",
        "other": "**English** · [中文](operations.zh.md)",
        "about": "Made from the declarations in `gradviz/ops` by `python docs/build.py`. The "
        "derivative is what the inspector shows: *g* is the gradient that comes in; where there "
        "are several inputs, ∂input says whose it is. *Saved* is what the node keeps until "
        "backward: inputs, the result, and the attributes the derivative names.",
        "recorded": "Recorded with a derivative",
        "backward": "Only in the graph of a derivative",
        "plain": "Not differentiable: the result never requires grad",
        "head": ("operation", "node", "derivative", "saved"),
        "short": ("operation", "node"),
        "result": "result",
        "view": "view",
    },
    "zh": {
        "title": "运算",
        "other": "[English](operations.md) · **中文**",
        "about": "由 `python docs/build.py` 根据 `gradviz/ops` 中的声明生成。导数一栏就是检查面板"
        "显示的公式：*g* 是传入的梯度；有多个输入时，用 ∂输入名 标明属于谁。“保存”一栏是节点在反向"
        "传播之前一直留着的东西：输入、结果，以及导数用到的属性。",
        "recorded": "会被记录并且有导数",
        "backward": "只出现在导数的计算图中",
        "plain": "不可微：结果从不需要梯度",
        "head": ("运算", "节点", "导数", "保存"),
        "short": ("运算", "节点"),
        "result": "结果",
        "view": "视图",
    },
}


def page(lang):
    """The whole page in one language."""
    words = WORDS[lang] | {"formula": partial(formula, lang)}
    parts = [f"# {words['title']}", words["other"], words["about"]]
    kinds = {"recorded": [], "backward": [], "plain": []}
    for op in declared():
        kinds[kind(op)].append(op)
    for name, ops in kinds.items():
        head = words["short" if name == "plain" else "head"]
        rows = [row(op, words)[: len(head)] for op in ops]
        parts += [f"## {words[name]}", table(head, rows)]
    return "\n\n".join(parts) + "\n"


def declared():
    """Every operation once, by name."""
    found = {id(op): op for op in OPERATIONS.values()}
    for function in vars(TENSOR).values():
        op = getattr(function, "op", None)
        if op is not None:
            found[id(op)] = op
    return sorted(found.values(), key=lambda op: (op.name, op.node.__name__))


def kind(op):
    """In which of the three tables an operation stands."""
    if not op.formula or not op.edges:
        return "plain"
    inner = op.name.endswith(("_back", "_read", "_blank", "_take", "_give", "_put", "_backward"))
    return "backward" if inner or "BackwardBackward" in op.node.__name__ else "recorded"


def row(op, words):
    """The cells of one operation."""
    name = f"`{op.name.removesuffix('_op')}`" + (f" ({words['view']})" if op.view else "")
    saved = [*op.saved_names, *([words["result"]] if op.saves_result else []), *op.saved_attrs]
    return name, f"`{op.node.__name__}`", cell(words["formula"](op.formula)), ", ".join(saved)


def formula(lang, text):
    """A formula with its words in a language, as the page tells it."""
    return told(text).get(lang, "")


def cell(text):
    """A formula inside a table: no bar ends the cell, nothing is read as Markdown."""
    for character in "\\|*_<>[]":
        text = text.replace(character, f"\\{character}")
    return text.replace("    ", "<br>")


def table(head, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(r) + " |" for r in rows)])
