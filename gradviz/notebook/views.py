"""Views on the screen, each with a still picture for where widgets do not run."""

from __future__ import annotations

import base64
import html
import sys
import uuid
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradviz.export.picture import Picture
from gradviz.export.svg import svg
from gradviz.export.text import summary
from gradviz.texts import text
from gradviz.watch.recorder import Recorder

if TYPE_CHECKING:
    from gradviz.widgets.graph import GraphView

WIDGET = "application/vnd.jupyter.widget-view+json"


def front_end(shell) -> bool:
    """True when cells are shown by a front end that can replace what it displayed."""
    return getattr(shell, "kernel", None) is not None


def publish(data: dict, display_id: str, update: bool = False):
    """Display ``data`` (a MIME bundle) under ``display_id``, or replace what is shown there."""
    from IPython.display import publish_display_data

    publish_display_data(data, transient={"display_id": display_id}, update=update)


@dataclass
class Display:
    """A view and where it is displayed; ``target``: the node whose graph it shows, None: all."""

    view: GraphView
    recorder: Recorder
    target: int | None = None
    display_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    shown: dict = field(default_factory=dict)


class Displays:
    """Opens views of ``session`` and keeps their still pictures honest."""

    def __init__(self, session):
        self.session = session
        self._open: list[Display] = []
        self._adopted: list[tuple[weakref.ref, str]] = []

    def open(self, follower=None, **settings) -> Display:
        """Show a new view now, of one tensor's graph or of everything.

        ``settings`` are its traits: ``placement``, ``language``, ``theme``, ``height``.
        """
        from gradviz.widgets.graph import GraphView

        session = self.session
        recorder = follower.recorder if follower else session.recorder
        detail = follower.detail if follower else session.source.detail
        asked = follower or session.source
        view = GraphView(recorder, detail, asked.attempt, asked.weigh, **settings)
        display = Display(view, recorder, follower.target if follower else None)
        self._open.append(display)
        publish(bundle(display), display.display_id)
        session.add(view, follower)
        return display

    def adopt(self, widget, stored_only: bool):
        """Show a widget that was made by itself; a client that only stores gets what is still."""
        display_id = uuid.uuid4().hex
        publish(widget.still() if stored_only else widget._repr_mimebundle_(), display_id)
        self._adopted.append((weakref.ref(widget), display_id))

    def show_again(self, display):
        """Show an open view in one more place."""
        publish(bundle(display), uuid.uuid4().hex)

    def close(self, placement: str):
        """Close the views that were opened with ``placement``; nothing stays where they were."""
        for display in [d for d in self._open if d.view.placement == placement]:
            self._open.remove(display)
            self._replace(display, {"text/plain": "", "text/html": ""})

    def freeze(self) -> int:
        """Turn every open view into its still picture; how many there were."""
        frozen = [d for d in self._open if not d.view.closed]
        for display in frozen:
            self._replace(display, still(display.recorder, display.target))
        self._open.clear()
        return len(frozen) + self._freeze_adopted()

    def _freeze_adopted(self):
        adopted, self._adopted = self._adopted, []
        still_open = [(w, id) for ref, id in adopted if (w := ref()) is not None and not w.closed]
        for widget, display_id in still_open:
            publish(widget.still(), display_id, update=True)
        for widget in {id(widget): widget for widget, _ in still_open}.values():
            widget.close()
        return len(still_open)

    def _replace(self, display, data):
        """Take the view off the page, then close its channel; the other way round the page errs."""
        publish(data, display.display_id, update=True)
        self.session.remove(display.view)

    def redraw_unheard(self, plain_client: bool):
        """New pictures for views that no page has spoken for.

        A client that only stores outputs (nbclient, nbconvert) names no cells and speaks for no
        view: there the widget would be an empty hole, so only the picture stays. A page that does
        speak later gets its widget back.
        """
        for display in [d for d in self._open if not d.view.closed]:
            if display.view.heard and (not display.shown or WIDGET in display.shown):
                continue
            stored_only = plain_client and "google.colab" not in sys.modules
            if stored_only and not display.view.heard:
                data = still(display.recorder, display.target)
            else:
                data = bundle(display)
            if data != display.shown:
                display.shown = data
                publish(data, display.display_id, update=True)


def bundle(display: Display) -> dict:
    """The widget with its still picture and its text for where widgets do not run."""
    data = still(display.recorder, display.target)
    if display.view.closed:
        return data
    return {
        WIDGET: {"version_major": 2, "version_minor": 1, "model_id": display.view.model_id}
    } | data


def still(recorder, target: int | None) -> dict[str, str]:
    """A MIME bundle that needs nothing running: a picture as HTML, and text."""
    with recorder.lock:
        picture = Picture.of(recorder.trace, target)
    return drawn(picture)


def drawn(picture) -> dict[str, str]:
    """A picture as HTML, and as text."""
    return {"text/plain": summary(picture), "text/html": image(picture)}


def image(picture) -> str:
    """An ``<img>`` with the picture inside it: shown even where scripts and inline SVG are not."""
    data = base64.b64encode(svg(picture).encode("utf-8")).decode("ascii")
    roots = ", ".join(node.label or node.op for node in picture.roots[:3])
    said = html.escape(text("notebook.alt", nodes=picture.total, roots=roots), quote=True)
    return f'<img alt="{said}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
