"""``torch.utils.swap_tensors``."""

from __future__ import annotations

import weakref

from ..engine.dispatch import Tensor


def swap_tensors(t1, t2):
    """Exchange what two tensors are, values, type, attributes and history, while every reference
    to them stays. RuntimeError for a tensor that is referenced weakly or has views.
    """
    for name, t in (("t1", t1), ("t2", t2)):
        views = t._v[1] if t._v is not None and t._v[1] else ()
        if {id(ref) for ref in weakref.getweakrefs(t)} - {id(ref) for ref in views}:
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
        if any(ref() is not None for ref in views):
            raise RuntimeError(
                f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node but got 2 "
                "make sure you are not holding references to the tensor in other places."
            )
    if _slots(type(t1)) != _slots(type(t2)):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for slot in (*_slots(type(t1)), *Tensor.__slots__):
        if slot[:2] != "__":
            _swap_slot(slot, t1, t2)


def _slots(cls):
    own = (base.__dict__.get("__slots__", ()) for base in cls.__mro__ if base is not Tensor)
    return {slot for slots in own for slot in slots}


def _swap_slot(slot, t1, t2):
    read = getattr(type(t1), slot).__get__
    found = []
    for t in (t1, t2):
        try:
            found.append((read(t),))
        except AttributeError:
            found.append(())
    for t, value in ((t1, found[1]), (t2, found[0])):
        if value:
            object.__setattr__(t, slot, value[0])
        elif found:
            _unset(t, slot)


def _unset(t, slot):
    try:
        object.__delattr__(t, slot)
    except AttributeError:
        pass
