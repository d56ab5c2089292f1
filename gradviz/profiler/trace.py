"""Events as a Chrome trace (``chrome://tracing``, Perfetto)."""

from __future__ import annotations

import gzip
import json
import os

from .recorder import EVALUATE, OPERATION


def write(events, path, metadata):
    """Write them to ``path``, packed when its name ends in ``.gz``; ``metadata``: more to say."""
    text = json.dumps(as_json(events) | metadata)
    if str(path).endswith(".gz"):
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.write(text)
        return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def as_json(events):
    """The trace as plain data: a row an event, an arrow from each operation to its backward."""
    pid, rows = os.getpid(), []
    for event in events:
        rows.append(
            {
                "ph": "X",
                "cat": event.kind,
                "name": event.name,
                "pid": pid,
                "tid": event.thread,
                "ts": event.start * 1e6,
                "dur": event.cpu_time_total,
                "args": _arguments(event),
            }
        )
    return {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "traceEvents": [*rows, *_arrows(events, pid)],
    }


def _arguments(event):
    found = {"External id": event.id}
    if event.sequence_nr >= 0:
        found["Sequence number"] = event.sequence_nr
    if event.input_shapes:
        found["Input Dims"] = event.input_shapes
    if event.cpu_memory_usage:
        found["Bytes"] = event.cpu_memory_usage
    return found


def _arrows(events, pid):
    made = {e.sequence_nr: e for e in events if e.kind == OPERATION and e.sequence_nr >= 0}
    for event in events:
        source = made.get(event.sequence_nr) if event.name.startswith(EVALUATE) else None
        if source is None:
            continue
        common = {"cat": "fwdbwd", "name": "fwdbwd", "id": event.sequence_nr, "pid": pid}
        yield common | {"ph": "s", "tid": source.thread, "ts": source.start * 1e6}
        yield common | {"ph": "f", "bp": "e", "tid": event.thread, "ts": event.start * 1e6}
