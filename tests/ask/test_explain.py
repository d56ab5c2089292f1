"""Why a gradient is what it is: each reason, with its line."""

import pytest

from gradviz.ask.explain import explain, explain_text, look_up


def asked(book, expression):
    return explain_text(expression, book.ns)


CASES = {
    "cut": ("h = (w * 2).detach()", "h.grad", 1),
    "severed": (
        "v = torch.ones(3, requires_grad=True)\nh = (w * 2).detach()\n(h * v).sum().backward()",
        "w.grad",
        2,
    ),
    "nonleaf": ("h = w * 2\nh.sum().backward()", "h.grad", 1),
    "retained_late": ("h = w * 2\nh.sum().backward()\nh.retain_grad()", "h", 1),
    "no_backward": ("h = (w * 2).sum()", "w.grad", 1),
    "cleared": ("(w * 2).sum().backward()\nw.grad = None", "w.grad", None),
    "untracked": ("x = torch.zeros(2)", "x", None),
    "integer": ("i = torch.arange(3)", "i.grad", None),
    "zero": ("(w * 0).sum().backward()", "w.grad", 1),
    "present": ("(w * 2).sum().backward()\n(w * 2).sum().backward()", "w.grad", 2),
    "unused": ("v = torch.ones(3, requires_grad=True)\nv.sum().backward()", "w.grad", None),
    "only_asked": ("y = w.sum()\ng = torch.autograd.grad(y, w)", "w", 1),
    "pending": (
        "y = w.sum()\nv = torch.ones(3, requires_grad=True)\nv.sum().backward()",
        "w.grad",
        1,
    ),
}


@pytest.mark.parametrize("reason", CASES)
def test_each_reason_has_its_line(book, reason):
    text, expression, line = CASES[reason]
    book.run(text)
    found = asked(book, expression)
    assert found.reason == reason
    assert (found.place.line if found.place else None) == line
    assert expression.removesuffix(".grad") in found.text


def test_a_forward_under_no_grad_is_named(book):
    book.run("with torch.no_grad():\n    h = w * 2\nv = torch.ones(3, requires_grad=True)")
    book.run("(h * v).sum().backward()")
    found = asked(book, "w.grad")
    assert (found.reason, found.place.cell, found.place.line) == ("severed", 2, 2)


def test_a_cut_inside_a_function_is_found(book):
    book.run("def f(x):\n    y = x * 2\n    y = y.detach()\n    return y")
    book.run("v = torch.ones(3, requires_grad=True)\nout = f(w) * v\nout.sum().backward()")
    found = asked(book, "w.grad")
    assert (found.reason, found.place.cell, found.place.line) == ("severed", 2, 3)


def test_the_path_is_drawn_and_nothing_in_it_is_markup(book):
    book.run("h = {'<b>': (w * 2).detach()}\nk = h['<b>']")
    found = asked(book, "k")
    html = found._repr_html_()
    assert found.path[-1] == "✂ detach" and "<b>" not in html and "&lt;b&gt;" in html


def test_a_gradient_can_be_asked_for_as_it_is_written(book):
    book.run("h = (w * 2).detach()\nanswer = gradviz.explain(w)")
    assert book.ns["answer"].reason == "no_backward"


def test_code_that_nobody_watches_still_gets_an_answer():
    import gradviz as torch

    w = torch.ones(2, requires_grad=True)
    h = (w * 2).sum()
    assert explain(w).reason == "pending"
    assert explain(h.grad).reason == "nonleaf"
    assert explain(w * 1).reason == "nonleaf"


def test_only_tensors_and_simple_expressions_are_answered(book):
    with pytest.raises(TypeError, match="tensor"):
        explain(3)
    for text in ("f(x)", "a + b", "[x for x in y]", "w if"):
        with pytest.raises(ValueError, match="names"):
            look_up(text, book.ns)
    assert look_up("d['k'][-1].x", {"d": {"k": [type("T", (), {"x": 5})]}}) == 5


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("x, y = torch.randn(3), torch.randint(0, 3, (3,))", "untracked"),
        ("x, y = torch.randn(3), w.argmax()", "untracked"),
        ("x, y = torch.tensor(w.tolist()), 1", "cut"),
        ("data = [1.0, 2.0]\nx = torch.tensor(data)", "untracked"),
        ("x = torch.from_numpy(numpy.ones(3))", "untracked"),
        ("ws = [w]\nx = torch.tensor([one.sum().item() for one in ws])", "cut"),
    ],
)
def test_only_what_came_out_of_a_graph_was_taken_out_of_one(book, cell, reason):
    book.run(f"import numpy\n{cell}\nx")
    assert asked(book, "x.grad").reason == reason
