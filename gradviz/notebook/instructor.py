"""How a notebook looks to a room: large type, and nothing of what is folded away."""

from __future__ import annotations

import uuid

from .views import publish

SIZES = {"--jp-code-font-size": 19, "--jp-ui-font-size1": 18} | {
    f"--jp-content-font-size{step}": size for step, size in enumerate((17, 20, 24, 28, 34, 41))
}
STYLE = (
    "<style>.jp-Notebook{{{sizes};--gv-type:1.4}}"
    ".jp-Notebook .jp-RenderedMarkdown details{{display:none}}</style>"
)


class Instructor:
    """``begin`` puts the look on the notebook, ``end`` takes it off."""

    def __init__(self):
        self._shown = ""

    def begin(self, said: str):
        """The style stands in the output of this cell, so it is gone when the output is."""
        self.end("")
        self._shown = uuid.uuid4().hex
        sizes = ";".join(f"{name}:{size}px" for name, size in SIZES.items())
        html = f"{STYLE.format(sizes=sizes)}<div>{said}</div>"
        publish({"text/plain": said, "text/html": html}, self._shown)

    def end(self, said: str):
        """Back to the ordinary look; False when it was that already."""
        if not self._shown:
            return False
        publish({"text/plain": said, "text/html": said}, self._shown, update=True)
        self._shown = ""
        return True
