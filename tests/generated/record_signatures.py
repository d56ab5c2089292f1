"""Write down the signatures of PyTorch's functions and methods, which its errors tell:
``python -m tests.generated.record_signatures``.

PyTorch tries the signatures of a function in an order that its error lists; how an argument may
be None or one number stand for several stands in the strings of its library.
"""

import re
import warnings
from pathlib import Path

import torch

import gradviz
import gradviz.nn.functional  # noqa: F401  its functions count too
from gradviz import ops
from gradviz.engine import arguments

LIBRARY = Path(torch.__file__).parent / "lib" / "libtorch_python.so"
TARGET = Path(arguments.__file__).with_name("signatures.txt")
HEAD = """\
# The signatures of PyTorch's functions and methods, in the order in which it tries them.
# Kinds: engine/arguments.py; ? takes None; [n]: one number stands for n.
"""
WORDS = (
    ("c10::List<::std::optional<Tensor>>", "Tensors?"),
    ("c10::List<std::optional<Tensor>>", "Tensors?"),
    ("SymIntArrayRef", "ints"),
    ("IntArrayRef", "ints"),
    ("ArrayRef<double>", "floats"),
    ("ArrayRef<Scalar>", "Numbers"),
    ("TensorList", "Tensors"),
    ("int64_t", "int"),
    ("SymInt", "int"),
    ("c10::string_view", "str"),
    ("std::string_view", "str"),
    ("ScalarType", "dtype"),
    ("Scalar", "Number"),
    ("double", "float"),
    ("PyObject*", "object"),
)
# Methods that PyTorch writes in Python.
PYTHON = ("norm", "stft", "split", "unique")


def in_library():
    """Every string of the library that looks like a signature, by name."""
    found = {}
    pattern = rb"\0([a-z_]\w*\([\x20-\x7e]*\)(?:\|deprecated)?)(?=\0)"
    for match in sorted(set(re.findall(pattern, LIBRARY.read_bytes()))):
        text = match.decode()
        for word, ours in WORDS:
            text = text.replace(word, ours)
        if not text.startswith("copy_(Storage"):  # of a storage
            found.setdefault(text.partition("(")[0], []).append(text)
    return found


def told(call):
    """The signatures that the error of a call with odd arguments lists, None where it lists
    none.
    """
    odd = object()
    for count in (11, 3, 0, 1, 2, 4, 5, 6, 7):
        for kwargs in ({"zzz": odd}, {"zzz": odd, "yyy": odd, "xxx": odd}, {}):
            try:
                call(*[odd] * count, **kwargs)
            except Exception as error:  # noqa: BLE001
                _, listed, lines = str(error).partition("but expected one of:\n")
                if listed:
                    return [line[3:] for line in lines.split("\n") if line.startswith(" * ")]
    return None


def takes_input(text):
    """Whether a signature is a function's: its first parameter is what a method belongs to."""
    if text.endswith("|deprecated"):
        return "Tensor input" in text
    return re.match(
        r"Tensor\S* (input|self|A|LU|LD|x|x1|input1|condition|log_probs|count|prob|mean|anchor|B)\b"
        r"|Tensors tensors|int n, Tensor",
        text.partition("(")[2],
    )


def settled(candidates, listed, method):
    """The signatures of a function, or of a method, in PyTorch's order."""
    by_text = {str(arguments.Signature(text)): text for text in candidates}
    own = [text for text in candidates if bool(takes_input(text)) != method]
    old = [text for text in own if text.endswith("|deprecated")]
    if listed is not None:
        return [by_text[text] for text in listed if text in by_text] + old
    if method and not own:
        return [f"{candidates[0].partition('(')[0]}()"]  # takes no arguments at all
    return own or candidates


def takes_nothing(method):
    try:
        method(object())
    except TypeError as error:
        return "takes no arguments" in str(error)
    return False


def native(place, name):
    return type(getattr(place, name, None)).__name__ == "builtin_function_or_method"


def main():
    warnings.simplefilter("ignore")
    known, functions, methods = in_library(), {}, {}
    places = [(torch, n, n) for n in {*ops.FUNCTIONS, *dir(gradviz)}]
    for module in ("linalg", "fft", "special"):
        place = getattr(torch, module)
        places += [(place, n, f"{module}_{n}") for n in dir(getattr(gradviz, module))]
    places += [(torch._C._nn, n, n) for n in dir(torch._C._nn) if n not in ops.FUNCTIONS]
    for place, name, shown in places:
        if native(place, name) and shown in known:
            listed = told(getattr(place, name))
            functions[shown] = settled(known[shown], listed, False)
    one = torch.ones(2, 2)
    for name in dir(gradviz.Tensor):
        kind = type(getattr(torch._C.TensorBase, name, None)).__name__
        wanted = kind == "method_descriptor" and name not in PYTHON and not name.startswith("__")
        if wanted and name in known:
            methods[name] = settled(known[name], told(getattr(one, name)), True)
        elif wanted and takes_nothing(getattr(one, name)):
            methods[name] = [f"{name}()"]
    sections = []
    for title, found in (("functions", functions), ("methods", methods)):
        sections += [f"{title}:", *(text for name in sorted(found) for text in found[name])]
    TARGET.write_text(HEAD + "\n".join(sections) + "\n")


if __name__ == "__main__":
    main()
