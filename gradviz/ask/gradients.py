"""``check_gradients(model, step)``: the norm of each gradient, and the odd ones flagged."""

from __future__ import annotations

import math
import weakref

from gradviz.sources import reading
from gradviz.sources.values import norm
from gradviz.texts import text

from .answer import Answer

TINY, HUGE = 1e-7, 1e3
DIGITS = 6
KEPT = 1_000

_history: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


class Gradients(Answer):
    """``norms``: name -> norm or None. ``odd``: name -> none, zero, nan, inf, tiny or huge.
    ``history``: (step, norms) of every call for this model, oldest first.
    """

    def __init__(self, norms, odd, step, history):
        shown = {name: "None" if n is None else round(n, DIGITS) for name, n in norms.items()}
        said = [f"[step {step}] {shown}" if step is not None else str(shown)]
        said += [text(f"ask.odd.{why}", name=name) for name, why in odd.items()]
        rows = [
            {
                "name": name,
                "norm": n,
                "odd": text(f"ask.odd_word.{odd[name]}") if name in odd else "",
            }
            for name, n in norms.items()
        ]
        super().__init__("\n".join(said), rows)
        self.norms, self.odd, self.step, self.history = norms, odd, step, history

    def _head(self):
        """Nothing: that line was printed."""
        return ""


def check_gradients(model, step=None) -> Gradients:
    """Print the norm (or ``None``) of each parameter's gradient, and say which look wrong.

    ``model``: anything with ``named_parameters()``, or (name, tensor) pairs, of real PyTorch too. A
    line a call, as
    ``[step 50] {'fc.weight': 0.31, 'fc.bias': 'None'}``; what is odd follows, a line each. The
    result has the same as ``norms``, ``odd``, rows, and ``history`` of earlier calls.
    """
    named = model.named_parameters() if hasattr(model, "named_parameters") else model
    parameters = dict(named)
    norms = {name: _norm(parameter) for name, parameter in parameters.items()}
    odd = _odd(norms, parameters)
    found = Gradients(norms, odd, step, _remember(model, step, norms))
    print(found.text)
    return found


def _norm(parameter):
    grad = reading.grad(parameter)
    return None if grad is None else norm(reading.value(grad))


def _odd(norms, parameters):
    """What is out of the ordinary; a missing gradient only where one is wanted."""
    out = {}
    for name, length in norms.items():
        why = _why(length, parameters[name])
        if why:
            out[name] = why
    return out


def _why(length, parameter):
    if length is None:
        missing = reading.grad(parameter) is None and reading.edge(parameter) is not None
        return "none" if missing else ""
    if math.isnan(length):
        return "nan"
    if math.isinf(length):
        return "inf"
    return "zero" if length == 0 else "tiny" if length < TINY else "huge" if length > HUGE else ""


def _remember(model, step, norms):
    """The calls so far for this model; models that cannot be remembered weakly are not."""
    try:
        kept = _history.setdefault(model, [])
    except TypeError:
        return [(step, norms)]
    kept.append((step, norms))
    del kept[:-KEPT]
    return list(kept)
