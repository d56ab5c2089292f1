"""Checks of exercises, predictions, and the file of progress."""

import json

import pytest

import gradviz as torch
from gradviz import teach, texts


@pytest.fixture(autouse=True)
def file(monkeypatch, tmp_path):
    place = tmp_path / "progress.json"
    monkeypatch.setenv("GRADVIZ_PROGRESS", str(place))
    yield place
    texts.set_language(None)


def leaf(value=2.0):
    return torch.tensor(value, requires_grad=True)


def claims(function):
    """(held, words) of each claim of a check."""
    want = teach.Want()
    function(want)
    return want.lines


def square():
    w = leaf(3.0)
    loss = w * w
    return w, loss


CLAIMS = {
    "value": (lambda c, w, y: c.value(y, 9.0),
        lambda c, w, y: c.value(y, 8.0)),
    "lists": (lambda c, *_: c.value([1, (2.0,)], [1, [2]]),
        lambda c, *_: c.value([1], [1, 2])),
    "bools": (lambda c, *_: c.value(True, True),
        lambda c, *_: c.value(1, True)),
    "text": (lambda c, *_: c.value(" Mul ", "mul"),
        lambda c, *_: c.value("mul", None)),
    "grad": (lambda c, w, y: c.grad(w, None),
        lambda c, w, y: c.grad(w, 6.0)),
    "flows": (lambda c, w, y: c.flows(w, y),
        lambda c, w, y: c.flows(y, w)),
    "cut": (lambda c, w, y: c.cut(leaf(), y),
        lambda c, w, y: c.cut(w, y)),
    "between": (lambda c, w, y: c.flows(y, y + 1),
        lambda c, w, y: c.cut(y, y + 1)),
    "leaf": (lambda c, w, y: c.leaf(w),
        lambda c, w, y: c.leaf(y)),
    "tracked": (lambda c, w, y: c.tracked(y),
        lambda c, w, y: c.tracked(w.detach())),
    "untracked": (lambda c, w, y: c.untracked(w.detach()),
        lambda c, w, y: c.untracked(w)),
    "nodes": (lambda c, w, y: c.nodes(y, MulBackward0=1, AddBackward0=0),
        lambda c, w, y: c.nodes(y, MulBackward0=2)),
    "saved": (lambda c, w, y: c.saved(y, 2),
        lambda c, w, y: c.saved(y, 0)),
    "raises": (lambda c, w, y: c.raises(lambda: w.view(7), RuntimeError, "shape"),
        lambda c, w, y: c.raises(lambda: None, RuntimeError)),
    "no graph": (lambda c, w, y: c.leaves_no_graph(lambda: (w * 2).item()),
        lambda c, w, y: c.leaves_no_graph(lambda: w * 2)),
    "that": (lambda c, w, y: c.that(y > 8),
        lambda c, w, y: c.that(y > 9)),
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_holds_or_does_not(name):
    yes, no = CLAIMS[name]
    for claim, expected in ((yes, True), (no, False)):
        held = [ok for ok, _ in claims(lambda want, claim=claim: claim(want, *square()))]
        assert held and all(ok is expected for ok in held)


def test_a_claim_is_told_with_the_words_of_the_check():
    def check(want):
        parts = {"w": leaf(3.0)}
        loss = parts["w"] * 2
        loss.backward()
        want.grad(
            parts["w"],
            2.0,
        )
        want.value(loss.item(), 7)

    assert [said for _, said in claims(check)] == [
        "parts['w'].grad is 2",
        "loss.item() should be 7, it is 6",
    ]


def test_a_missing_gradient_is_explained():
    def check(want):
        w = leaf()
        h = w * 2
        (h * h).backward()
        want.grad(h, 8.0)

    (said,) = (said for _, said in claims(check))
    assert "h.grad should be 8, it is None" in said and "only leaves keep a gradient" in said


def attempt(lesson, function):
    return lesson.check(1)(function)


def test_an_exercise_is_open_wrong_or_done(file, capsys):
    lesson = teach.Lesson("00", exercises=1)
    answer = ...

    def check(want):
        want.value(answer, 3)

    assert attempt(lesson, check).held is None and not file.exists()
    assert attempt(lesson, lambda want: (answer * leaf()).backward()).held is None
    answer = 4
    assert attempt(lesson, check).held is False
    answer = 3
    assert attempt(lesson, check).held is True
    assert attempt(lesson, lambda want: None).held is False  # nothing was claimed
    out = capsys.readouterr().out
    assert "Exercise 1: still to do" in out and "✗ answer should be 3, it is 4" in out


def test_an_error_of_the_answer_is_told_with_its_line():
    def answer():
        return leaf().view(7)

    verdict = attempt(teach.Lesson("00"), lambda want: want.value(answer(), 1))
    assert verdict.held is False
    assert "RuntimeError: shape '[7]' is invalid" in repr(verdict)
    assert "return leaf().view(7)" in repr(verdict)


def test_predictions():
    lesson = teach.Lesson("00")
    w = leaf(28.0)
    lesson.compare(28, w)
    assert lesson.verdicts["w"].text == "You were right: w is 28."
    lesson.compare(..., w.item())
    assert lesson.verdicts["w.item()"].held is None
    lesson.compare((1, True), [1, True])
    lesson.compare(None, w.grad)
    assert lesson.verdicts["w.grad"].held is True
    lesson.compare(14, w)
    assert lesson.verdicts["w"].text == "You said 14; w is 28."


def test_progress_is_kept_in_a_file_of_its_own(file):
    first = teach.Lesson("05", exercises=2)
    first.compare(1, 2)
    attempt(first, lambda want: want.value(1, 1))
    kept = json.loads(file.read_text(encoding="utf-8"))["lessons"]["05"]
    assert kept["exercises"]["1"]["passed"] and kept["predictions"]["2"] == {
        "guess": "1",
        "right": False,
    }
    assert "1 of 2 exercises done, 0 of 1 prediction right" in repr(teach.Lesson("05", exercises=2))
    assert teach.progress().rows == [{"lesson": "05", "exercises": "1 / 2", "predictions": "0 / 1"}]
    assert "lesson 05: exercises 1 / 2" in repr(teach.progress())
    assert "05" in teach.progress()._repr_html_()


@pytest.mark.parametrize("content", ["", "[]", '{"lessons": 3}', "\x00"])
def test_a_damaged_file_is_begun_anew(file, content):
    file.write_text(content, encoding="utf-8")
    assert not teach.progress().rows
    attempt(teach.Lesson("01"), lambda want: want.value(1, 1))
    assert teach.progress().rows


def test_a_folder_that_cannot_be_written_stops_nobody(monkeypatch, tmp_path):
    monkeypatch.setenv("GRADVIZ_PROGRESS", str(tmp_path / "nowhere" / "progress.json"))
    assert attempt(teach.Lesson("01"), lambda want: want.value(1, 1)).held


def test_verdicts_in_chinese():
    texts.set_language("zh")
    verdict = attempt(teach.Lesson("03"), lambda want: want.value(1, 2))
    assert "练习 1：还不对。" in repr(verdict) and "练习" in verdict._repr_html_()


def test_what_is_shown_is_data():
    bad = "<script>"
    verdict = attempt(teach.Lesson("00"), lambda want: want.value(bad, 1))
    assert bad not in verdict._repr_html_()
