"""Calls of every operation, made from its lines in operations.txt and a seed: text that runs on
either engine.

    a = t('float32', (2, 3), 17, layout='transposed'); b = t('int64', (3,), 5); torch.add(a, b)
"""

import random
import re
from pathlib import Path

TABLE = Path(__file__).with_name("operations.txt")

SHAPES = [(), (3,), (4,), (1,), (0,), (2, 3), (3, 4), (3, 4), (1, 3), (0, 3), (2, 3, 2), (2, 1, 3)]
DTYPES = {
    "float64": 28,
    "float32": 28,
    "float16": 6,
    "bfloat16": 6,
    "int64": 10,
    "int32": 4,
    "uint8": 5,
    "bool": 5,
    "complex64": 4,
    "complex128": 4,
}
REAL = ("float64", "float32")
LAYOUTS = ("transposed", "strided", "expanded", "offset")
NUMBERS = ("2", "-1", "0.5", "True", "0", "1.5", "(1+2j)")
ODD = ("'a'", "None", "1.5", "[1]", "7", "-9", "True", "torch.float32", "(1, 'a')", "object")
_TENSOR = re.compile(r"([A-Z])(\d*)\[([\d,]*)\]|(?<![\w'])([xy])(?![\w'])")


class Line:
    """One line of the table."""

    def __init__(self, text):
        names, rest = text.split(": ", 1)
        required, _, optional = rest.partition(" ; ")
        self.names = names.split()
        self.required = [word.split("|") for word in required.split()]
        self.optional = {
            key: alternatives.split("|")
            for key, alternatives in (word.split("=", 1) for word in optional.split())
        }


def lines():
    return [Line(text) for text in TABLE.read_text().splitlines() if not text.startswith("#")]


def names(tensor):
    """Every callable of the table with its lines; in-place forms are those that ``tensor`` has."""
    found = {}
    for line in lines():
        for name in line.names:
            bare = name.lstrip(".")
            if "." not in bare and bare[0] != "/" and not hasattr(tensor, bare):
                name = f"/{name}"
            found.setdefault(name, []).append(line)
            if name[0] != "/" and "." not in bare and hasattr(tensor, f"{bare}_"):
                found.setdefault(f".{bare}_", []).append(line)
    return found


class Call:
    """The text of one call, drawn with ``seed``; ``dtypes``: the only ones that numbers have."""

    def __init__(self, name, line, seed, mistaken=0.12, dtypes=None):
        self.random = random.Random(f"{name} {seed}")
        self.dtype = self.random.choices(list(DTYPES), DTYPES.values())[0]
        self.dtypes = dtypes
        if dtypes:
            self.dtype = dtypes[0]
        self.made, self.shape = [], None
        args = [self.word(self.pick(word)) for word in line.required]
        wanted = [k for k in line.optional if self.random.random() < 0.35][:3]
        kwargs = {key: self.word(self.pick(line.optional[key])) for key in wanted}
        if name in _POSITIONAL and kwargs:
            args, kwargs = args + list(kwargs.values()), {}
        self.write_out(name, kwargs)
        if self.random.random() < mistaken:
            args, kwargs = self.mistake(args, kwargs)
        self.text = "; ".join([*self.made, self.spell(name, args, kwargs)])

    def pick(self, options):
        return self.random.choice(options)

    def chance(self, p):
        return self.random.random() < p

    # ------------------------------------------------------------ how it is called
    def spell(self, name, args, kwargs):
        method = name.startswith(".") or not name.startswith("/") and "." not in name
        if method and not name.startswith("."):
            method = "out" not in kwargs and self.chance(0.5)
        given = [*args, *(f"{key}={value}" for key, value in kwargs.items())]
        bare = name.lstrip("/.")
        if method and given and re.fullmatch(r"[a-z]\d?", given[0]):
            return f"{given[0]}.{bare}({', '.join(given[1:])})"
        place = "torch.nn.functional." if bare.startswith("F.") else "torch."
        return f"{place}{bare.removeprefix('F.')}({', '.join(given)})"

    def write_out(self, name, kwargs):
        if name.startswith((".", "F.")) or not self.chance(0.06):
            return
        dtype = self.dtype if self.chance(0.7) else self.draw_dtype()
        shape = self.shape if self.shape is not None and self.chance(0.6) else self.pick(SHAPES)
        kwargs["out"] = self.tensor(dtype, shape, plain=True)

    def mistake(self, args, kwargs):
        kind = self.random.randrange(6)
        if kind < 3 and args:
            k = self.random.randrange(len(args))
            args = [*args[:k], self.pick(ODD), *args[k + 1 :]]
        elif kind == 3:
            args = args[:-1]
        elif kind == 4:
            args = [*args, self.pick(ODD)]
        elif kwargs and self.chance(0.7):
            kwargs = {**kwargs, self.pick(list(kwargs)): self.pick(ODD)}
        else:
            kwargs = {**kwargs, "unknown": "1"}
        return args, kwargs

    # ------------------------------------------------------------ words
    def word(self, text):
        made = getattr(self, f"word_{text}", None) if text.isidentifier() else None
        if made is not None:
            return made()
        return text if text.startswith("'") else _TENSOR.sub(self.tensor_word, text)

    def tensor_word(self, found):
        kind, modulus, shape, bare = found.groups()
        if bare:
            return self.word_x() if bare == "x" else self.word_y()
        shape = tuple(int(n) for n in shape.split(",") if n)
        if self.shape is None:
            self.shape = shape
        if kind in "IB":
            odd = self.chance(0.07) and not self.dtypes
            dtype = "bool" if kind == "B" else self.draw_dtype() if odd else "int64"
        else:
            other = self.chance(0.4) and not self.made and not self.dtypes
            dtype = self.pick(REAL) if other else self.dtype
            if kind == "C" and "complex" not in dtype:
                dtype = "complex128"
            if not self.made:
                self.dtype = dtype
        return self.tensor(dtype, shape, kind + modulus)

    def word_x(self):
        if self.shape is None:
            self.shape = self.pick(SHAPES)
        kind = self.random.choices("APUN", (7, 1, 1, 1))[0]
        return self.tensor(self.dtype, self.shape, kind)

    def word_y(self):
        if self.chance(0.15):
            return self.word_number()
        dtype = self.dtype if self.chance(0.75) else self.draw_dtype()
        shape = self.broadcastable() if self.chance(0.95) else self.pick(SHAPES)
        return self.tensor(dtype, shape, self.random.choices("APN", (7, 2, 1))[0])

    def word_mask(self):
        dtype = "bool" if self.chance(0.9) else self.dtype
        return self.tensor(dtype, self.broadcastable())

    def broadcastable(self):
        shape = tuple(1 if self.chance(0.15) else n for n in self.shape)
        return shape[self.random.randrange(len(shape) + 1) :] if self.chance(0.2) else shape

    def word_number(self):
        return self.pick(NUMBERS)

    def word_float(self):
        return self.pick(("0.0", "1.0", "-2.5"))

    def word_bool(self):
        return self.pick(("True", "False"))

    def word_reduction(self):
        return self.pick(("'none'", "'mean'", "'sum'", "'sum'", "'none'", "'no'"))

    def word_dtype(self):
        return f"torch.{self.draw_dtype()}"

    def draw_dtype(self):
        return self.pick(self.dtypes or list(DTYPES))

    def word_dim(self):
        n = len(self.shape or ()) or 1
        return str(self.random.randrange(-n, n) if self.chance(0.95) else self.pick((n, -n - 1)))

    def word_dims(self):
        if self.chance(0.6):
            return self.word_dim()
        if self.chance(0.2):
            return self.pick(("None", "()", "[]"))
        n = len(self.shape)
        chosen = self.random.sample(range(n), self.random.randint(0, n))
        if self.chance(0.08):
            chosen.append(self.pick((0, n)))
        return str(tuple(d - n if self.chance(0.4) else d for d in chosen))

    def word_size(self):
        shape = list(self.shape)
        n = 1
        for k in shape:
            n *= k
        return self.pick(
            (f"({n},)", "(-1,)", str(tuple(shape)), str(tuple(reversed(shape))), f"(1, {n})")
            + (str((2, *shape)), f"(-1, {shape[-1] if shape else 1})", "(5,)", "()", f"({n}, -1)")
        )

    def word_repeats(self):
        n = len(self.shape)
        return self.pick((str((2,) * n), str((1, *[2] * n)), "2", "(0,)", "(-1,)", str((1,) * n)))

    # ------------------------------------------------------------ tensors
    def tensor(self, dtype, shape, kind="A", plain=False):
        letter = "abcdefghij"[len(self.made)]
        more = "" if kind == "A" else f", {kind!r}"
        if not plain and self.chance(0.3) and shape:
            more += f", layout={self.pick(LAYOUTS)!r}"
        seed = self.random.randrange(100)
        self.made.append(f"{letter} = t({dtype!r}, {shape}, {seed}{more})")
        return letter


# Methods whose optional arguments are given by position.
_POSITIONAL = {".fill_diagonal_"}


def drawn(tensor, first, count, only="", mistaken=0.12):
    """``count`` calls of every name, with seeds from ``first`` on; a share of them ``mistaken``."""
    for name, known in names(tensor).items():
        if only and only not in name:
            continue
        for seed in range(first, first + count):
            yield name, Call(name, known[seed % len(known)], seed, mistaken).text
