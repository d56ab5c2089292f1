"""``%gradviz`` and ``%%gradviz``."""

from __future__ import annotations

import contextlib
import os

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display
from traitlets import Bool, Enum, Int, List, Unicode

from gradviz.ask.alive import alive_at, checked
from gradviz.ask.explain import explain_text, look_up
from gradviz.ask.memory import memory_at
from gradviz.ask.moment import within
from gradviz.ask.rules import rules
from gradviz.doctor import Choice
from gradviz.doctor.choice import is_known
from gradviz.export import words
from gradviz.texts import LANGUAGES, language, set_language, text

from . import alias
from .instructor import Instructor
from .onecell import CellFollower
from .views import front_end

ACTIONS = (
    "on", "off", "status", "leaks", "explain", "why", "memory", "rules", "freeze", "lang", "inline",
    "step", "torch", "instructor", "help",
)  # fmt: skip
ASKING = ("explain", "why", "step")
WITH_A_WORD = ("lang", "torch", "instructor")
CELL = "cell"
THEMES = ("auto", "light", "dark")

WRONGLY_ASKED = (
    ValueError, TypeError, NameError, AttributeError, LookupError, SyntaxError, RuntimeError,
)  # fmt: skip


@contextlib.contextmanager
def told_in_a_line():
    """What was asked wrongly is said in a line, with the advice, instead of a traceback."""
    try:
        yield
    except WRONGLY_ASKED as error:
        said = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
        raise UsageError("\n".join(said)) from None


@magics_class
class GradvizMagics(Magics):
    """The live view of the autograd graph, and questions about it: %gradviz [ACTION]."""

    height = Int(420, help=text("notebook.config.height")).tag(config=True)
    theme = Enum(("auto", "light", "dark"), "auto", help=text("notebook.config.theme")).tag(
        config=True
    )
    fps = Int(20, min=1, max=20, help=text("notebook.config.fps")).tag(config=True)
    lines = Bool(True, help=text("notebook.config.lines")).tag(config=True)
    select = List(Unicode(), help=text("notebook.config.select")).tag(config=True)
    ignore = List(Unicode(), help=text("notebook.config.ignore")).tag(config=True)

    def __init__(self, shell, extension):
        super().__init__(shell)
        self._extension = extension
        self._lang_chosen = "GRADVIZ_LANG" in os.environ
        self._is_torch = False
        self._room = Instructor()
        shell.input_transformers_cleanup.append(self.transform)
        self.observe(self._configured, ("fps", "lines", "select", "ignore"))
        self._configured(None)

    @line_cell_magic
    def gradviz(self, line, cell=None):
        """Open, close and ask the live view of the autograd graph; ``%gradviz?`` tells it all."""
        if cell is not None:
            self.shell.run_cell(f"%%gradviz {line}\n{cell}")
            return
        action, *rest = line.split() or ["on"]
        action = "help" if action in ("-h", "--help", "?") else action
        if action in ASKING:
            if not rest:
                raise UsageError(text("notebook.usage", action=action))
            getattr(self, f"_{action}")(line.split(None, 1)[1])
            return
        if action not in (*ACTIONS, CELL) or len(rest) > (action in WITH_A_WORD):
            known = ", ".join(ACTIONS)
            raise UsageError(text("notebook.unknown", action=line.strip(), known=known))
        getattr(self, f"_{action}")(*rest)

    gradviz.getdoc = lambda: text("notebook.help")  # what IPython shows for %gradviz?

    def transform(self, lines):
        """``%%gradviz`` on the first line opens a view; the rest stays as it was, line for line."""
        if lines and lines[0].split()[:1] == ["%%gradviz"]:
            rest = lines[0].split()[1:]
            lines = [f"%gradviz {' '.join(rest) or CELL}\n", *lines[1:]]
        return lines

    def settings(self) -> dict:
        """The traits of a new view."""
        chosen = language() if self._lang_chosen else "auto"
        return {"height": self.height, "theme": self.theme, "language": chosen}

    def _on(self):
        extension = self._extension
        extension.session.watch()
        if not front_end(self.shell):
            print(text("notebook.no_front_end"))
            return
        extension.displays.close("dock")
        extension.displays.open(placement="dock", **self.settings())

    def _inline(self):
        self._open_inline(None)

    def _cell(self):
        session = self._extension.session
        running = session.watching and session.running
        self._open_inline(CellFollower(session.source, session.recorder) if running else None)

    def _open_inline(self, follower):
        extension = self._extension
        extension.session.watch()
        if front_end(self.shell):
            extension.displays.open(follower, placement="inline", **self.settings())

    def _off(self):
        watching = self._extension.session.watching
        self._extension.displays.freeze()
        self._extension.session.rest()
        print(text("notebook.off" if watching else "notebook.already_off"))

    def _status(self):
        session = self._extension.session
        if not session.watching:
            print(text("notebook.already_off"))
            return
        trace = session.recorder.trace
        with session.recorder.lock:
            status, leaks = trace.status(), len(words.serious(trace.findings))
        views = sum(not view.closed for view in session.views)
        shown, total, cost = status["shown"], status["total"], status["overhead"]
        print(text("notebook.status.on", views=views, shown=shown, total=total, leaks=leaks))
        if cost:
            kept = words.size(cost.get("bytes", 0))
            print(text("notebook.status.overhead", ms=f"{cost.get('ms', 0):.1f}", bytes=kept))

    def _leaks(self):
        session = self._extension.session
        with session.recorder.lock:
            findings = words.serious(session.recorder.trace.findings)
        for finding in findings:
            print(words.paragraph(finding))
        if not findings:
            print(text("notebook.leaks.none"))

    def _explain(self, asked):
        self._answer(lambda: explain_text(asked, self.shell.user_ns))

    def _why(self, asked):
        names = self.shell.user_ns
        self._answer(lambda: alive_at(checked(look_up(asked, names)), within(names)))

    def _memory(self):
        self._answer(lambda: memory_at(within(self.shell.user_ns)))

    def _rules(self):
        self._answer(rules)

    def _answer(self, ask):
        """Show an answer; what was asked wrongly is one line."""
        with told_in_a_line():
            answer = ask()
        if front_end(self.shell):
            display(answer)
        else:
            print(answer)

    def _freeze(self):
        count = self._extension.displays.freeze()
        key = {0: "none", 1: "one"}.get(count, "many")
        fields = {"count": count} if key == "many" else {}
        print(text(f"notebook.frozen.{key}", **fields))

    def _step(self, expression):
        from gradviz.sources.reading import is_tensor

        from .player import BackwardPlayer

        with told_in_a_line():
            tensor = self._evaluated(expression)
            if not is_tensor(tensor):
                raise UsageError(text("notebook.usage", action="step"))
            player = BackwardPlayer(tensor, **self.settings())
        display(player)

    def _evaluated(self, expression):
        """Its value; what it raises is one line too."""
        try:
            return self.shell.ev(expression)
        except Exception as error:
            raise UsageError(f"{type(error).__name__}: {error}") from None

    def _help(self):
        print(text("notebook.help"))

    def _torch(self, wish="on"):
        if wish not in ("on", "off"):
            raise UsageError(text("notebook.torch.usage"))
        if wish == "off":
            print(text("notebook.torch.off" if alias.installed() else "notebook.torch.already_off"))
            self._is_torch = False
            alias.remove()
            return
        if alias.real():
            raise UsageError(text("notebook.torch.refused", where=alias.real()))
        self._is_torch = self._is_torch or not alias.installed()
        alias.install()
        print(text("notebook.torch.on"))

    def _instructor(self, wish="on"):
        if wish not in ("on", "off"):
            raise UsageError(text("notebook.instructor.usage"))
        if not front_end(self.shell):
            print(text("notebook.instructor.no_front_end"))
        elif wish == "on":
            self._room.begin(text("notebook.instructor.on"))
        elif not self._room.end(text("notebook.instructor.off")):
            print(text("notebook.instructor.already_off"))

    def unload(self):
        """Take back what an action changed outside the shell."""
        if self._is_torch:
            alias.remove()

    def _lang(self, lang=""):
        if lang not in LANGUAGES:
            raise UsageError(text("notebook.unknown_language", asked=lang))
        set_language(lang)
        self._lang_chosen = True
        from gradviz.widgets.base import open_views

        for view in open_views():
            view.language = lang
        print(text("notebook.language"))

    def _configured(self, change):
        extension = self._extension
        extension.session.ticker.period = 1 / self.fps
        extension.session.choice = Choice(tuple(self.select), tuple(self.ignore))
        unknown = [word for word in (*self.select, *self.ignore) if not is_known(word)]
        if unknown:
            print("gradviz: " + text("cli.check.no_rule", name=", ".join(unknown)))
        if change is not None and change["name"] == "lines":
            extension.lines.silent = not self.lines
