"""What gradviz has not, by kind: from ``gradviz/absent.py``."""

from gradviz.absent import NAMES
from gradviz.texts import text

NAME = "absent"
WORDS = {
    "en": {
        "title": "What gradviz has not",
        "other": "**English** · [中文](absent.zh.md)",
        "about": "Each of these names of PyTorch is there, and raises `NotImplementedError` with "
        "its own name when it is used. `gradviz migrate FILE` lists which of them a program uses. "
        "Made from `gradviz/absent.py` by `python docs/build.py`.",
        "sparse": "Sparse, nested and masked tensors",
        "quantized": "Quantised tensors",
        "dtype": "Numbers of 8 bits and less, and others that NumPy has not",
        "program": "Programs made into other programs",
        "vendor": "One vendor's kernels and devices",
        "rare": "Distributions and special functions that are seldom met",
        "tool": "Tools around programs",
    },
    "zh": {
        "title": "gradviz 没有的内容",
        "other": "[English](absent.md) · **中文**",
        "about": "下面这些 PyTorch 名称都在，使用时会抛出带有自身名称的 `NotImplementedError`。"
        "`gradviz migrate 文件` 列出一个程序用到了其中哪些。由 `python docs/build.py` 根据 "
        "`gradviz/absent.py` 生成。",
        "sparse": "稀疏、嵌套与掩码张量",
        "quantized": "量化张量",
        "dtype": "8 位及以下的数，以及 NumPy 没有的其他数",
        "program": "把程序变成另一种程序",
        "vendor": "特定厂商的内核与设备",
        "rare": "很少遇到的分布与特殊函数",
        "tool": "围绕程序的工具",
    },
}


def page(lang):
    """The whole page in one language."""
    words = WORDS[lang]
    parts = [f"# {words['title']}", words["other"], words["about"]]
    for kind, places in NAMES.items():
        names = [f"`{place}.{name}`" for place, all_ in places.items() for name in all_.split()]
        parts += [f"## {words[kind]}", text(f"advice.absent.{kind}", lang), " · ".join(names)]
    return "\n\n".join(parts) + "\n"
