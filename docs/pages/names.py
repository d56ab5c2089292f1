"""What is there, by namespace: read from the package alone."""

import __future__

import importlib
import types

from gradviz import _SUBMODULES as SUBMODULES

# what `from __future__ import annotations` leaves behind in a module
ABSENT = __future__.annotations
NAME = "names"
PLACES = (
    "gradviz",
    "gradviz.Tensor",
    "gradviz.nn",
    "gradviz.nn.functional",
    "gradviz.nn.init",
    "gradviz.nn.utils",
    "gradviz.nn.utils.rnn",
    "gradviz.nn.utils.parametrize",
    "gradviz.nn.utils.parametrizations",
    "gradviz.optim",
    "gradviz.optim.lr_scheduler",
    "gradviz.optim.swa_utils",
    "gradviz.autograd",
    "gradviz.autograd.graph",
    "gradviz.autograd.functional",
    "gradviz.autograd.forward_ad",
    "gradviz.func",
    "gradviz.linalg",
    "gradviz.special",
    "gradviz.fft",
    "gradviz.distributions",
    "gradviz.amp",
    "gradviz.cuda",
    "gradviz.distributed",
    "gradviz.utils.data",
    "gradviz.utils.checkpoint",
    "gradviz.testing",
)
WORDS = {
    "en": {
        "title": "Names",
        "other": "**English** · [中文](names.zh.md)",
        "about": "What `import gradviz as torch` offers, by namespace: {count} names. Read from "
        "the package itself by `python docs/build.py`. Whether a name does what "
        "PyTorch's does is what `tests/differential` compares.",
        "special": "special methods",
    },
    "zh": {
        "title": "名称",
        "other": "[English](names.md) · **中文**",
        "about": "`import gradviz as torch` 提供的全部名称，按命名空间列出，共 {count} 个。"
        "由 `python docs/build.py` 直接从包中读"
        "取。行为是否与 PyTorch 一致，由 "
        "`tests/differential` 逐一比较。",
        "special": "特殊方法",
    },
}


def page(lang):
    """The whole page in one language."""
    words = WORDS[lang]
    for place in PLACES:
        owner(place)  # what one file adds to another's names is there before they are read
    found = {place: public(place) for place in PLACES}
    special = sorted(n for n in vars(owner("gradviz.Tensor")) if shown_special(n))
    sections = [*found.items(), (f"gradviz.Tensor ({words['special']})", special)]
    count = sum(len(names) for _, names in sections)
    parts = [f"# {words['title']}", words["other"], words["about"].format(count=count)]
    for place, names in sections:
        parts += [f"## {place}: {len(names)}", " · ".join(f"`{n}`" for n in names)]
    return "\n\n".join(parts) + "\n"


def owner(place):
    """The module or class of a dotted name."""
    if place == "gradviz.Tensor":
        return importlib.import_module("gradviz").Tensor
    return importlib.import_module(place)


def public(place):
    """Its names, sorted: of a single file those that it defines, of a package those it gathers."""
    found = owner(place)
    values = {n: getattr(found, n, ABSENT) for n in dir(found) if not n.startswith("_")}
    values = {n: v for n, v in values.items() if v is not ABSENT and type(v).__name__ != "Absent"}
    wanted = SUBMODULES if place == "gradviz" else ()
    module = types.ModuleType
    values = {n: v for n, v in values.items() if n in wanted or not isinstance(v, module)}
    own = [n for n, v in values.items() if getattr(v, "__module__", None) == place]
    single = isinstance(found, types.ModuleType) and not hasattr(found, "__path__")
    return sorted(own if single and own else values)


def shown_special(name):
    """Whether a special method belongs to Tensor and not to every object."""
    return name.startswith("__") and callable(getattr(owner("gradviz.Tensor"), name, None))
