"""The line under a cell: new findings once, gone when the leak goes, inert."""

from gradviz.notebook.lines import Lines, bundle, line_text
from tests.traces import HOSTILE, finding


class Screen:
    def __init__(self):
        self.shown, self.updates = {}, 0

    def __call__(self, data, display_id, update=False):
        self.shown[display_id] = data
        self.updates += update


def test_a_new_finding_is_said_once():
    screen = Screen()
    lines = Lines(screen)
    lines.show([finding()])
    lines.show([finding()])
    (data,) = screen.shown.values()
    assert "GV101" in data["text/plain"] and "In [3], line 8" in data["text/plain"]
    assert "\n" not in data["text/plain"]
    assert "<code>history.append(loss.item())</code>" in data["text/html"]


def test_it_goes_when_the_leak_goes():
    screen = Screen()
    lines = Lines(screen)
    lines.show([finding()])
    lines.show([])
    assert list(screen.shown.values()) == [{"text/plain": "", "text/html": ""}]
    lines.show([finding()])
    assert len(screen.shown) == 2


def test_a_line_stays_while_one_of_its_findings_does():
    screen = Screen()
    lines = Lines(screen)
    lines.show([finding(), finding(rule="GV131", line=9)])
    assert "1 more" in next(iter(screen.shown.values()))["text/plain"]
    lines.show([finding(rule="GV131", line=9)])
    assert screen.updates == 0


def test_info_is_not_said():
    screen = Screen()
    Lines(screen).show([finding(severity="info")])
    assert not screen.shown


def test_a_terminal_prints(capsys):
    lines = Lines()
    lines.show([finding()])
    lines.show([])
    assert capsys.readouterr().out.count("GV101") == 1


def test_silent():
    screen = Screen()
    Lines(screen, silent=True).show([finding()])
    assert not screen.shown


def test_hostile_words_are_inert():
    said = bundle([finding(message={"en": f"Kept by `{HOSTILE}`\n{HOSTILE}"}, fix={"en": HOSTILE})])
    assert "<script" not in said["text/html"] and "<img" not in said["text/html"]
    assert "\n" not in line_text([finding(message={"en": "a\nb"})])


def test_a_finding_without_a_place_is_a_sentence():
    assert line_text([finding(line=None, cell=None)]).startswith(
        f"GV101 {finding().message['en']} {finding().fix['en'].replace('`', '`')}"
    )
