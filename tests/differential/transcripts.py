"""Programs as a person would type them, in ``tests/autograd/transcripts/*.txt``, split at
``# === title``: after every statement all that was seen is written down, values and whole messages,
warnings and what was printed.

A program may use ``raises(f, …)``, ``tell(…)`` and ``leaf(…)``, a tracked tensor of doubles. Run by
hand it compares gradviz with PyTorch, with ``--record`` it writes what PyTorch does beside the
programs, for machines without it.
"""

import ast
import contextlib
import io
import json
import pathlib
import re
import sys
import warnings

from . import observe as seen

FOLDER = pathlib.Path(__file__).parents[1] / "autograd" / "transcripts"
RECORDED = FOLDER / "recorded.json"
IMPORTS = """import collections, contextlib, copy, functools, gc, inspect, io, math, pickle
import sys, threading, traceback, warnings, weakref"""


def programs():
    """(file and title, text) of every program."""
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text().split("# === ")[1:]:
            title, _, text = part.partition("\n")
            yield f"{path.stem}: {title}", text


def plain_text(x):
    """A message without what belongs to one process or one engine."""
    text = re.sub(r"\bgradviz\.(engine\.tensor\.)?", "torch.", str(x)).split("\nException raised")[
        0
    ]
    text = re.sub(r" ?\(Triggered internally at .*?\)", "", text)
    return re.sub(r"0x[0-9a-f]+", "0x…", text)


def shown(x, Tensor, depth=0):
    """What is compared of a value."""
    if isinstance(x, Tensor):
        values = seen.attempt(lambda: seen.plain(x.detach().reshape(-1).tolist()))
        node = None if x.grad_fn is None else type(x.grad_fn).__name__
        return [str(x.dtype).split(".")[-1], list(x.shape), values, x.requires_grad, node]
    if isinstance(x, (tuple, list)) and depth < 6:
        return [type(x).__name__, *[shown(y, Tensor, depth + 1) for y in x]]
    if isinstance(x, dict):
        return {str(k): shown(v, Tensor, depth + 1) for k, v in x.items()}
    if isinstance(x, complex):
        return [x.real, x.imag]
    if x is None or isinstance(x, (bool, int, float)):
        return x
    return plain_text(x) if isinstance(x, str) else type(x).__name__


def scope_for(engine, events):
    """The names that a program starts with."""
    scope = {"torch": engine, "__name__": "program"}
    exec(IMPORTS, scope)  # noqa: S102
    autograd = engine.autograd

    def raises(function, *args, **kwargs):
        try:
            events.append(["gave", shown(function(*args, **kwargs), engine.Tensor)])
        except Exception as error:  # noqa: BLE001
            events.append(["raised", type(error).__name__, plain_text(error)])

    def leaf(*values, dtype=engine.float64):
        values = values[0] if len(values) == 1 else values
        return engine.tensor(values, dtype=dtype, requires_grad=True)

    return scope | {
        "raises": raises,
        "leaf": leaf,
        "tell": lambda *what: events.append(["told", *[shown(x, engine.Tensor) for x in what]]),
        "autograd": autograd,
        "Function": autograd.Function,
        "once_differentiable": autograd.function.once_differentiable,
        "gradcheck": autograd.gradcheck,
        "gradgradcheck": autograd.gradgradcheck,
        "AF": autograd.functional,
        "fwAD": autograd.forward_ad,
        "func": engine.func,
        "vmap": engine.func.vmap,
        "nn": engine.nn,
        "F": engine.nn.functional,
    }


def run(statement, scope, events, Tensor):
    """Run one statement; an expression's value is an event."""
    try:
        if isinstance(statement, ast.Expr):
            code = compile(ast.Expression(statement.value), "<program>", "eval")
            value = eval(code, scope)  # noqa: S307
            if value is not None:
                events.append(["value", shown(value, Tensor)])
        else:
            exec(compile(ast.Module([statement], []), "<program>", "exec"), scope)  # noqa: S102
    except Exception as error:  # noqa: BLE001
        events.append(["raised", type(error).__name__, plain_text(error)])


def transcript(engine, text):
    """[statement, what was seen] of every statement after which something was seen."""
    out, events = [], []
    engine.manual_seed(0)
    always = engine.is_warn_always_enabled()
    engine.set_warn_always(True)
    scope = scope_for(engine, events)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message=".*torch.jit.script")
        for statement in ast.parse(text).body:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                run(statement, scope, events, engine.Tensor)
            if printed.getvalue():
                events.append(["printed", plain_text(printed.getvalue())])
            events += [["warned", w.category.__name__, plain_text(w.message)] for w in told]
            if events:
                out.append([ast.unparse(statement), json.loads(json.dumps(events))])
            told.clear()
            events.clear()
    scope.clear()
    engine.set_grad_enabled(True)
    engine.set_warn_always(always)
    return out


def main(arguments):
    import torch

    if "--record" in arguments:
        made = {title: transcript(torch, text) for title, text in programs()}
        RECORDED.write_text(
            json.dumps(made, separators=(",", ":"), ensure_ascii=False).replace('],"', '],\n"')
            + "\n"
        )
        return 0
    import gradviz

    count = 0
    for title, text in programs():
        found = seen.differences(transcript(torch, text), transcript(gradviz, text))
        if found:
            count += 1
            print(f"--- {title}", *found[:8], sep="\n")
    print(f"{len(list(programs()))} programs, {count} differ")
    return count


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1:]), 99))
