"""``gradviz.profiler``: when operations, backward nodes, accumulation, collectives and named blocks
ran, as in ``torch.profiler``.

It watches through the engine's door. The time of a backward node or a collective is its own; that
of a forward operation is the time since the event before it, so it holds the person's Python in
between. What makes a tensor from numbers alone (``zeros``, ``randn``) and some functions of
integers (``unique``, ``bincount``) are not seen.
"""

from .averages import EventList, FunctionEventAvg
from .profile import profile, record_function, tensorboard_trace_handler
from .recorder import FunctionEvent
from .schedule import ProfilerAction, ProfilerActivity, schedule, supported_activities

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
