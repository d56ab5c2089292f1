"""Places: whose frame it is, and which line of which cell."""

import sys
import sysconfig

from gradviz.watch.places import PACKAGE, Files, Places, user_chain


def test_whose_file():
    files = Files()
    assert files.is_mine("<ipython-input-3-abc>") and files.is_mine("/home/me/notebook.py")
    assert not files.is_mine(PACKAGE + "/engine/tensor.py")
    assert not files.is_mine(sysconfig.get_path("stdlib") + "/functools.py")
    assert not files.is_mine("<frozen importlib._bootstrap>")


def test_lines_of_a_cell():
    text = "def f():\n    return where()\nx = f()\n"
    places = Places({"<cell>": 4}.get, lambda count: text)
    notes = []

    def where():
        notes.append(user_chain(sys._getframe(1), Files())[0])

    exec(compile(text, "<cell>", "exec"), {"where": where})
    chain = places.chain(notes[0])
    assert [(p.cell, p.line, p.function, p.code) for p in chain[:2]] == [
        (4, 2, "f", "return where()"),
        (4, 3, "", "x = f()"),
    ]


def test_no_frame_of_the_person():
    assert user_chain(None, Files()) == ((), "")
    assert Places(lambda _: None, lambda _: None).chain(()) == []


def test_cell_magics_shift_lines():
    text = "%%time\nx = 1\ny = 2"
    places = Places({"<cell>": 7}.get, {7: text, 8: text}.get, lambda: 8)
    assert (places.at("<cell>", 2).line, places.at("<cell>", 2).code) == (3, "y = 2")
    timed = places.at("<timed exec>", 1)
    assert (timed.cell, timed.line, timed.code) == (8, 2, "x = 1")


def test_blank_lines_at_the_top_of_a_cell_are_counted():
    text = "\n  \n%%time\nx = 1\ny = 2"
    places = Places({"<cell>": 7}.get, {7: text, 8: "\n\nx = 1"}.get, lambda: 8)
    assert (places.at("<cell>", 2).line, places.at("<cell>", 2).code) == (5, "y = 2")
    assert (places.at("<timed exec>", 1).line, places.at("<timed exec>", 1).code) == (3, "x = 1")
