"""``torch.autograd.profiler``: the older names of ``gradviz.profiler``."""

from __future__ import annotations

import contextlib

from ..profiler import profile as _profile
from ..profiler import record_function

__all__ = ["emit_itt", "emit_nvtx", "profile", "record_function"]


class profile(_profile):
    """``with profile() as prof:`` counts and times recorded operations; ``enabled=False`` does
    nothing. Other options are accepted.
    """

    def __init__(self, enabled=True, *, use_device=None, use_cpu=True, use_kineto=True, **options):
        super().__init__(**options)
        self.enabled = enabled

    def __enter__(self):
        return super().__enter__() if self.enabled else self

    def __exit__(self, *exc):
        if self.enabled:
            super().__exit__(*exc)

    @property
    def function_events(self):
        """The rows by key."""
        return self.events()

    def table(self, sort_by=None, row_limit=100, **options):
        """The rows as text."""
        return self.key_averages().table(sort_by, row_limit)


class emit_nvtx(contextlib.nullcontext):
    """Accepted: there is no tool to tell."""

    def __init__(self, enabled=True, record_shapes=False):
        super().__init__(self)


class emit_itt(emit_nvtx):
    """Accepted: there is no tool to tell."""
