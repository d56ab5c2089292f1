"""What the public names take and do: from signatures and docstrings, for the site."""

import importlib
import inspect
import re
import warnings

import gradviz

from .names import PLACES, owner, public

OWN = ("gradviz.notebook", "gradviz.ask")
SPHINX = re.compile(r":\w+:`([^`]+)`")
WORDS = {
    "en": {
        "title": "API",
        "own": "gradviz's own names",
        "about": "Made from signatures and docstrings. [gradviz's own names](own.md) are what"
        " PyTorch does not have; the other pages are PyTorch's names, by namespace, with PyTorch's"
        " meaning: what differs stands under [differences](../differences.md).",
    },
    "zh": {
        "title": "API",
        "own": "gradviz 自己的名称",
        "about": "由签名和文档字符串生成；文档字符串是英文的，与 `help()` 显示的相同。"
        "[gradviz 自己的名称](own.md)是 PyTorch 没有的；其余各页按命名空间列出"
        "与 PyTorch 含义相同的名称，区别见[与 PyTorch 的不同](../differences.md)。",
    },
}


def pages(lang):
    """(name, text) of every page."""
    words = WORDS[lang]
    yield (
        "index",
        f"# {words['title']}\n\n{words['about']}\n\n"
        + "\n".join(f"- [{place}]({place}.md)" for place in PLACES),
    )
    entries = [entry(f"gradviz.{name}", getattr(gradviz, name)) for name in sorted(own())]
    teach = importlib.import_module("gradviz.teach")
    entries += [entry(f"gradviz.teach.{n}", getattr(teach, n)) for n in sorted(teach.__all__)]
    yield "own", f"# {words['own']}\n\n" + "\n\n".join(entries)
    for place in PLACES:
        yield place, f"# {place}\n\n" + "\n\n".join(namespace(place))


def own():
    """The names of gradviz that PyTorch has not."""
    return [name for name, home in gradviz._ELSEWHERE.items()
            if home.startswith(OWN) and not name.endswith("_ipython_extension")]  # fmt: skip


def namespace(place):
    """The entries of what a module or class offers."""
    found = owner(place)
    for name in public(place):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = getattr(found, name)
        if callable(value) or isinstance(value, property):
            yield entry(name, value)


def entry(name, value):
    """Name, signature and docstring; the methods of a class of ours below it."""
    lines = [
        f"## `{name}`",
        f"```python\n{name.rpartition('.')[2]}{signature(value)}\n```",
        doc(value),
    ]
    if inspect.isclass(value) and value.__module__.startswith(
        (*OWN, "gradviz.teach", "gradviz.widgets")
    ):
        methods = {n: m for n, m in vars(value).items() if inspect.isfunction(m) and n[0] != "_"}
        lines += [
            f"**`{n}{signature(m)}`** {doc(m)}" for n, m in methods.items() if inspect.getdoc(m)
        ]
    return "\n\n".join(filter(None, lines))


def signature(value):
    """``(x, *, dim=None)``; nothing for what is no function."""
    try:
        return re.sub(r"<(\S+) object at 0x\w+>", r"<\1>", str(inspect.signature(value)))
    except (TypeError, ValueError):
        return "(…)" if callable(value) else ""


def doc(value):
    """The docstring as Markdown."""
    if inspect.isclass(value) and "__doc__" not in vars(value):
        return ""
    said = SPHINX.sub(r"`\1`", inspect.getdoc(value) or "")
    parts = re.split(r"(``.*?``|`[^`]*`)", said, flags=re.S)
    return "".join(part if i % 2 else plain(part) for i, part in enumerate(parts))


def plain(text):
    """Nothing of prose is read as markup."""
    return re.sub(r"([*_<\[])", r"\\\1", text)
