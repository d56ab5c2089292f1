"""Loss scaling: small float16 gradients are kept from vanishing, and steps with infinite ones are
skipped."""

from __future__ import annotations

import enum
import warnings
from collections import defaultdict
from collections.abc import Iterable

from ..backend import accelerator, as_array, beside, xp
from ..engine.dispatch import Tensor, wrap
from ..engine.views import bump


class OptState(enum.Enum):
    """Where an optimizer is in one iteration."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh():
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """``scale(loss).backward()``, ``unscale_(optimizer)`` if needed, ``step(optimizer)``,
    ``update()``."""

    def __init__(
        self,
        device="cuda",
        init_scale=2.0**16,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        self._device, self._enabled = device, enabled
        if device == "cuda" and enabled and accelerator.gpu() is None:
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor, self._growth_interval = (
            growth_factor,
            backoff_factor,
            growth_interval,
        )
        self._init_growth_tracker, self._growth_tracker = 0, None
        self._per_optimizer_states = defaultdict(_fresh)

    def _check(self, what):
        fix = (
            "This may indicate your script did not use scaler.scale(loss or outputs) earlier in "
            "the iteration."
        )
        if self._scale is None:
            raise AssertionError(f"Attempted {what} but _scale is None.  {fix}")
        if self._growth_tracker is None:
            raise AssertionError(f"Attempted {what} but _growth_tracker is None.  {fix}")

    def scale(self, outputs):
        """``outputs`` (a tensor, or tensors in a list or tuple) times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                there = outputs._a
                self._scale = wrap(xp.asarray(self._init_scale, xp.float32, like=there))
                self._growth_tracker = wrap(
                    xp.asarray(self._init_growth_tracker, xp.int32, like=there)
                )
            return outputs * self._scale.to(outputs.device)
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer):
        """Divide the gradients of the optimizer's parameters by the scale, and note whether all are
        finite."""
        if not self._enabled:
            return
        self._check("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = (1.0 / self._scale._a.astype(xp.float64)).astype(xp.float32)
        found = {}
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p._grad is not None:
                    bad = _unscale(p._grad, beside(inverse, p._grad._a))
                    found[p.device] = found.get(p.device, False) | bad
        state["found_inf_per_device"] = {
            k: wrap(as_array(bad).astype(xp.float32)) for k, bad in found.items()
        }
        state["stage"] = OptState.UNSCALED

    def step(self, optimizer, *args, **kwargs):
        """``optimizer.step()`` with unscaled gradients, skipped when one is not finite; returns
        what it returns."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        out = None
        if not any(float(v._a) for v in state["found_inf_per_device"].values()):
            out = optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return out

    def update(self, new_scale=None):
        """Lower the scale after a skipped step, raise it after ``growth_interval`` good ones, or
        set it."""
        if not self._enabled:
            return
        self._check("update")
        if new_scale is not None:
            self._set(new_scale)
        else:
            found = [
                f
                for s in self._per_optimizer_states.values()
                for f in s["found_inf_per_device"].values()
            ]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(sum(beside(f._a, self._scale._a) for f in found) > 0)
        self._per_optimizer_states = defaultdict(_fresh)

    def _set(self, new_scale):
        if isinstance(new_scale, float):
            self._scale.fill_(new_scale)
            return
        if (
            new_scale.device.type != self._device
            or new_scale.numel() != 1
            or new_scale.requires_grad
        ):
            raise AssertionError(
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                "torch.FloatTensor with requires_grad=False."
            )
        self._scale.copy_(new_scale)

    def _adapt(self, failed):
        """Nothing is read on the host, so nothing waits for a GPU."""
        scale, good = self._scale._a, self._growth_tracker._a + 1
        grow = good == self._growth_interval
        lower, higher = (
            scale * xp.float32(by) for by in (self._backoff_factor, self._growth_factor)
        )
        kept = xp.where(grow & xp.isfinite(higher), higher, scale)
        scale[...] = xp.where(failed, lower, kept)
        self._growth_tracker._a[...] = xp.where(failed | grow, 0, good)

    # ------------------------------------------------------------ settings
    def get_scale(self):
        """The scale as a number."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        """What the scale is multiplied by after good steps."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Set what the scale is multiplied by after good steps."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """What the scale is multiplied by after a skipped step."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Set what the scale is multiplied by after a skipped step."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """How many good steps raise the scale."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Set how many good steps raise the scale."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        return (
            self._init_growth_tracker
            if self._growth_tracker is None
            else self._growth_tracker.item()
        )

    def is_enabled(self):
        """Whether anything is scaled."""
        return self._enabled

    def state_dict(self):
        """Scale, factors and counters; empty when disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict):
        """Go on from what ``state_dict`` gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor, self._backoff_factor = (
            state_dict["growth_factor"],
            state_dict["backoff_factor"],
        )
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])


def _unscale(grad, inverse):
    """Multiply in place; whether an element was not finite, as an array."""
    array = grad._a
    if array.dtype == xp.float16:
        raise ValueError("Attempting to unscale FP16 gradients.")
    bad = ~xp.isfinite(array).all()
    with xp.errstate(all="ignore"):
        xp.multiply(array, inverse.astype(array.dtype), out=array)
    bump(grad)
    return bad
