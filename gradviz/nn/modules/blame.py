"""An error in a layer says which layer it was, what it got and what it wants."""

from __future__ import annotations

import weakref

from ...engine.tensor import Tensor

ERRORS = (RuntimeError, ValueError, IndexError)
LONGEST = 90


def blame(module, args, kwargs, error):
    """Note on ``error`` where it happened; called by every module that it passes on its way out."""
    known = getattr(error, "_layer", None)
    if known is None:
        values = [v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)]
        known = {"inner": weakref.ref(module), "path": "", "got": _shapes(values)}
        known["wants"] = _wanted(module)
        known["note"] = len(getattr(error, "__notes__", ()))
        error._layer = known
        error.add_note(_told(module, known))
        return
    inner = known["inner"]()
    if inner is None or inner is module:
        return
    step = next((name for name, m in module.named_modules() if m is inner), None)
    if step is None:
        return
    known["inner"] = weakref.ref(module)
    known["path"] = ".".join(filter(None, (step, known["path"])))
    known.setdefault("layer", _named(inner))
    error.__notes__[known["note"]] = _told(None, known)


def _told(module, known):
    from ...texts import text

    layer = known.get("layer") or _named(module)
    where = f"{known['path']}: {layer}" if known["path"] else layer
    key = "advice.layer_wants" if known["wants"] else "advice.layer"
    return text(key, layer=where, got=known["got"] or "—", wants=known["wants"])


def _named(module):
    try:
        found = repr(module)
    except Exception:  # a person's extra_repr must not hide the error
        return type(module).__name__
    short = "\n" not in found and len(found) <= LONGEST
    return found if short else type(module).__name__


def _shapes(tensors):
    return ", ".join(f"{tuple(t.shape)} {t.dtype}".replace("torch.", "") for t in tensors)


def _wanted(module):
    """The shape of the first input, as far as the kind of layer tells."""
    for attribute, form in _FORMS.items():
        if getattr(module, attribute, None) is not None:
            return form(module)
    return ""


def _sizes(shape):
    return ", ".join(map(str, shape))


def _sequence(size):
    return lambda m: f"(N, L, {size(m)})" if m.batch_first else f"(L, N, {size(m)})"


def _recurrent(m):
    if hasattr(m, "batch_first"):
        return _sequence(lambda m: m.input_size)(m)
    return f"(N, {m.input_size})"


_FORMS = {
    "in_features": lambda m: f"(…, {m.in_features})",
    "in1_features": lambda m: f"(…, {m.in1_features}), (…, {m.in2_features})",
    "in_channels": lambda m: f"(N, {m.in_channels}, {_sizes('DHW'[-len(m.kernel_size) :])})",
    "num_features": lambda m: f"(N, {m.num_features}, …)",
    "num_channels": lambda m: f"(N, {m.num_channels}, …)",
    "normalized_shape": lambda m: f"(…, {_sizes(m.normalized_shape)})",
    "input_size": _recurrent,
    "embed_dim": _sequence(lambda m: m.embed_dim),
    "num_embeddings": lambda m: f"0 … {m.num_embeddings - 1}",
}
