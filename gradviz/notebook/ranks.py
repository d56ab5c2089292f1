"""``gradviz.rank_report``: one process of a job tells of its graph and its buckets."""

from __future__ import annotations

from gradviz.distributed import get_rank, get_world_size, is_initialized

from .display import _check, graph_of, shell_of


def rank_report(tensor=None, model=None) -> dict:
    """What this process says of itself, as plain data that travels: its rank, the graph of
    ``tensor`` (default: everything in view) and the timeline of ``model``'s buckets in its last
    backward (``DistributedDataParallel``).

    Under ipyparallel, ``%%px report = gradviz.rank_report(loss, model)``, then
    ``gradviz.watch.ranks.together(client[:]["report"])``. Raises TypeError for anything but a
    tensor.
    """
    _check(tensor)
    recorder, _, _ = graph_of(shell_of(), tensor)
    with recorder.lock:
        graph = recorder.trace.to_json()
    joined = is_initialized()
    return {
        "rank": get_rank() if joined else 0,
        "size": get_world_size() if joined else 1,
        "graph": graph,
        "timeline": [] if model is None else model.timeline(),
    }
