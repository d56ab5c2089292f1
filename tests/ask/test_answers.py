"""leaks, why_alive, memory, check_gradients: objects, text, HTML, rows."""

import gc
import tracemalloc
import weakref
from dataclasses import replace

import pytest

from gradviz.ask.alive import alive_at, why_alive
from gradviz.ask.gradients import check_gradients
from gradviz.ask.leaks import leaks_at
from gradviz.ask.memory import memory_at
from gradviz.ask.moment import within
from gradviz.doctor import Choice

HISTORY = """hist = []
for _ in range(3):
    loss = (w * w).sum()
    loss.backward()
    hist.append(loss)
"""


def test_leaks_are_told_and_go(book):
    book.run(HISTORY)
    found = leaks_at(within(book.ns))
    assert found and found.findings[0].kind == "leak.container"
    assert found.rows[0]["place"] == "In [2], line 5" and "hist[0]" in found.text
    assert found.findings[0].count == 3 and found.findings[0].step_nodes == 2
    book.run("hist.clear()")
    assert not leaks_at(within(book.ns))


def test_a_comment_silences_a_finding(book):
    book.run(HISTORY.replace("hist.append(loss)", "hist.append(loss)  # gradviz: ignore[GV101]"))
    assert not leaks_at(within(book.ns))
    book.run(HISTORY.replace("hist.append(loss)", "hist.append(loss)  # gradviz: ignore[GV2]"))
    assert leaks_at(within(book.ns))


def test_every_path_is_named_the_nearest_first(book):
    book.run("x = w * 2\ny = {'deep': [x.sum()]}\nf = lambda z=y['deep']: z")
    found = alive_at(book.ns["x"], within(book.ns))
    assert found.paths[0] == "x" and set(found.paths) >= {"y['deep'][0]"}
    assert [row["steps"] for row in found.rows][:2] == [0, 1]


def test_what_a_running_function_holds_is_seen():
    import gradviz as torch

    def inner():
        local = torch.ones(2, requires_grad=True) * 2
        return why_alive(local)

    assert inner().paths == ["local"]


def test_only_tensors_and_nodes_have_holders():
    with pytest.raises(TypeError):
        why_alive("text")


def test_answers_keep_nothing_alive(book):
    book.run("x = w * 2")
    ref = weakref.ref(book.ns["x"])
    kept = alive_at(book.ns["x"], within(book.ns)), memory_at(within(book.ns))
    book.run("del x")
    gc.collect()
    assert ref() is None and kept


def test_bytes_by_kind(book):
    book.run(
        "net = torch.nn.Linear(100, 50)\nopt = torch.optim.Adam(net.parameters())\n"
        "x = torch.ones(20, 100)\ny = net(x).exp()\ny.sum().backward(retain_graph=True)\nopt.step()"
    )
    found = memory_at(within({k: v for k, v in book.ns.items() if k != "w"}))
    size = 4 * (100 * 50 + 50)
    assert found.kinds["gradients"] == size
    assert found.kinds["parameters"] == size + 12
    assert 2 * size <= found.kinds["optimizer"] <= 2 * size + 64
    assert found.modules["net"]["parameters"] == size
    assert found.total == sum(found.kinds.values())
    assert found.peak[1:] == (2, 5) and found.peak[0] >= 4 * 20 * 50


def test_what_each_step_and_each_module_saved_and_what_made_the_peak(book):
    book.run(
        "from torch import nn\n"
        "net = nn.Sequential(nn.Linear(50, 60), nn.ReLU(), nn.Linear(60, 1))\n"
        "for k in (1, 3, 2):\n    loss = net(torch.randn(20 * k, 50)).exp().mean()\n"
        "    loss.backward(retain_graph=True)"
    )
    found = memory_at(within({k: v for k, v in book.ns.items() if k != "w"}))
    one, weight = 4 * 20 * (50 + 60 + 1), 4 * 60
    assert found.steps == [(2, 5, k * one + weight) for k in (1, 3, 2)]
    assert found.peak == (3 * one + weight, 2, 5)
    assert found.makers[0] == ("ReluBackward0", "In [2], line 4", 4 * 60 * 60)
    assert sum(size for _, _, size in found.makers) <= 3 * one + weight
    assert found.makers[0][0] in str(found) and found.makers[0][0] in found._repr_html_()
    assert found.modules["net"]["saved"] == found.kinds["kept_buffers"] == 2 * one
    first, last = found.modules["net[0]"]["saved"], found.modules["net[2]"]["saved"]
    assert first == 4 * 40 * (50 + 60) and last == 4 * 40 and found.kinds["saved"] == 0


def test_what_create_graph_keeps_is_told_apart(book):
    book.run("x = torch.ones(500, requires_grad=True)\n(x ** 3).sum().backward(create_graph=True)")
    found = memory_at(within({"x": book.ns["x"]}))
    assert found.kinds["kept_buffers"] == 0 and found.kinds["gradients"] == 2_000
    book.run("y = (x * 2).exp().sum()\ny.backward(create_graph=True)")
    found = memory_at(within({"y": book.ns["y"]}))
    assert found.kinds["kept_buffers"] > 10 * found.kinds["saved"]


def trained():
    """Everything that a training step leaves, by name."""
    import gradviz as torch

    net = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Tanh())
    opt = torch.optim.Adam(net.parameters())
    batch = torch.ones(1024, 512)
    out = net(batch)
    loss = out.square().mean()
    loss.backward(retain_graph=True)
    opt.step()
    return {"net": net, "opt": opt, "batch": batch, "out": out, "loss": loss}


def test_bytes_agree_with_tracemalloc():
    trained()  # what is loaded and remembered once is not counted
    gc.collect()
    tracemalloc.start()
    try:
        names = trained()
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    told = memory_at(within(names)).total
    assert abs(told - grown) / grown < 0.02


def test_gradients_are_printed_recorded_and_flagged(capsys):
    import gradviz as torch

    net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Linear(1, 1))
    net[0](torch.tensor([[3.0, 4.0]])).sum().backward()
    found = check_gradients(net, 50)
    first, *odd = capsys.readouterr().out.splitlines()
    assert (
        first == "[step 50] {'0.weight': 5.0, '0.bias': 1.0, '1.weight': 'None', '1.bias': 'None'}"
    )
    assert len(odd) == 2 and found.odd == {"1.weight": "none", "1.bias": "none"}
    net[0].weight.grad[0, 0] = float("nan")
    again = check_gradients(net, 51)
    assert again.odd["0.weight"] == "nan" and [step for step, _ in again.history] == [50, 51]


def test_rows_become_a_frame_or_say_what_is_missing(book):
    found = leaks_at(within(book.ns))
    try:
        import pandas  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="pandas"):
            found.to_frame()
    else:
        assert len(found.to_frame()) == 0


def test_a_page_shows_every_line_of_an_answer(book):
    book.run("loss = (w * w).sum()\nloss.backward()")
    found = memory_at(within(book.ns))
    html = found._repr_html_()
    assert found.text.splitlines()[-1] in html and ">12 B<" in html and ">0<" not in html


def test_columns_of_a_terminal_stand_below_each_other_in_chinese(book):
    from gradviz import texts

    book.run("h = w * 2\nmany = [h]")
    try:
        texts.set_language("zh")
        lines = alive_at(book.ns["h"], within(book.ns)).text.splitlines()[1:]
    finally:
        texts.set_language(None)
    ends = {
        len(line[: line.index(word)].encode("gbk"))
        for line in lines
        for word in ("方式", "直接")
        if word in line
    }
    assert len(lines) == 3 and len(ends) == 1


def test_leaks_tells_only_what_the_settings_want(book):
    book.run(HISTORY)
    here = within(book.ns)
    assert leaks_at(here)
    assert not leaks_at(replace(here, choice=Choice(ignore=("GV101",))))
