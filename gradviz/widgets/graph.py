"""The graph view: sends what changed in the recorder, answers what the page asks."""

from __future__ import annotations

import threading
import time

import traitlets

from gradviz.watch.plain import plain

from .base import View
from .frames import VERSION, Encoder

EVERYTHING = -1
ROW_TEXTS = ("place", "calls", "saved", "hooks", "formula", "findings")
UNHEARD_SHARE = 20
SCALARS = 64


class GraphView(View):
    """A live picture of ``recorder``; ``detail(id)`` tells about a node, ``attempt(asked)`` runs
    one once more for a page that asks, ``weigh(id)`` tells what one keeps alive.

    Holds rows and numbers, no user's tensor. ``push`` and the answers may come from different
    threads; frames leave in order.
    """

    selected = traitlets.Unicode("").tag(sync=True)
    _order = threading.RLock()

    def __init__(self, recorder, detail, attempt=None, weigh=None, **settings):
        self._recorder, self._detail = recorder, detail
        self._attempt, self._weigh = attempt, weigh
        self._order = threading.RLock()
        self._encoder = Encoder()
        self._since, self._seq = EVERYTHING, EVERYTHING
        self._status = {}
        self._heard, self._not_before = False, 0.0
        self._selected = None
        super().__init__(**settings)

    def push(self, last: bool = False):
        """Send what changed; ``last`` adds what the page shows of scalars and the selected node.

        Until a page has spoken every frame is a whole one, because nobody knows which frame it will
        hear first.
        """
        with self._order:
            if self.closed:
                return
            if not self._heard:
                if not last and time.monotonic() < self._not_before:
                    return
                self._forget()
            elif self._encoder.full:
                self._forget()
            self._send_frame(last)

    def whole(self):
        """Send everything (a page has just come, or lost its place)."""
        with self._order:
            if not self.closed:
                self._forget()
                self._send_frame(last=True)

    @property
    def heard(self) -> bool:
        """True once a page has spoken."""
        return self._heard

    def on_ready_message(self, content):
        """A page has been mounted."""
        self._heard = True
        self.whole()

    def on_resync_message(self, content):
        """A page missed a frame."""
        self._heard = True
        self.whole()

    def on_inspect_message(self, content):
        """A node was selected."""
        self._heard = True
        self._selected = int(content["id"])
        detail = self._describe(self._selected)
        if self._weigh is not None:
            detail["keeps"] = self._weigh(self._selected)
        self.send({"t": "detail", "id": self._selected, "detail": detail})

    def on_try_message(self, content):
        """Something is to be run once more, on copies: the check of a node, another value."""
        answer = {"why": "not_live"} if self._attempt is None else self._attempt(content)
        asked = {"what": content.get("what"), "id": int(content["id"])}
        self.send({"t": "tried"} | asked | plain(answer))

    def close(self):
        """End the view; the recorder is let go."""
        with self._order:
            super().close()
            self._detail = self._recorder = self._attempt = self._weigh = None

    def _forget(self):
        self._encoder.restart()
        self._since = self._seq = EVERYTHING
        self._status = {}

    def _send_frame(self, last):
        started = time.monotonic()
        with self._recorder.lock:
            header, buffers = self._frame()
            if header and last:
                header["details"] = {str(i): self._describe(i) for i in self._told_fully()}
        if header:
            self.send(header, buffers)
        spent = time.monotonic() - started
        self._not_before = time.monotonic() + UNHEARD_SHARE * spent

    def _told_fully(self):
        """The selected node, and the newest scalars: their numbers are written into the picture."""
        nodes = self._recorder.trace.nodes
        scalars = [i for i, node in nodes.items() if not node.shape and node.alive]
        chosen = sorted(scalars, reverse=True)[:SCALARS]
        return chosen if self._selected in (None, *chosen) else [*chosen, self._selected]

    def _frame(self):
        """Header and buffers of the next frame; nothing when the page already knows it all."""
        delta = self._recorder.delta(self._since)
        if delta.reset:
            self._encoder.restart()
            self._seq = EVERYTHING
        self._since = delta.seq
        news = self._news(delta)
        changed = delta.nodes or delta.edges or delta.removed or news
        if self._seq != EVERYTHING and not changed:
            return {}, []
        strings, buffers = self._encoder.encode(delta.nodes, delta.edges)
        header = {"t": "frame", "v": VERSION, "seq": self._seq + 1, "base": self._seq}
        header |= {"strings": strings, "removed": delta.removed, "status": self._status} | news
        self._seq += 1
        return header, buffers

    def _news(self, delta):
        """Status and findings, each only when it changed."""
        news, status = {}, plain(delta.status)
        if status != self._status:
            news["status"] = self._status = status
        if delta.findings is not None:
            news["findings"] = plain(delta.findings)
        return news

    def _describe(self, node_id):
        with self._recorder.lock:
            node = self._recorder.trace.nodes.get(node_id)
            row = {} if node is None else {name: getattr(node, name) for name in ROW_TEXTS}
            detail = self._detail(node_id)
        return plain(row) | (plain(detail) if detail is not None else {"id": node_id})
