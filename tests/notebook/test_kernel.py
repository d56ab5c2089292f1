"""In a real kernel: what is sent while a cell runs and after it."""

import base64
import re

import pytest

from tests.notebook.conftest import displays, frames, printed
from tests.pages import Page

WIDGET = "application/vnd.jupyter.widget-view+json"
LOOP = """import time
w = torch.ones(2, requires_grad=True)
x = w
for step in range(20):
    x = x * 2
    time.sleep(0.05)
print('done')"""


@pytest.fixture
def loaded(kernel):
    kernel.run("%load_ext gradviz\nimport gradviz, gradviz as torch")
    return kernel


def follow(messages):
    page = Page()
    for message, buffers in frames(messages):
        page.hear(message, buffers)
    return page


def picture(data):
    return base64.b64decode(re.search(r"base64,([^\"]+)", data["text/html"]).group(1)).decode()


def test_the_graph_grows_while_the_cell_runs(loaded):
    (shown,) = displays(loaded.run("%gradviz"))
    assert shown["data"][WIDGET]["model_id"]
    messages = loaded.run(LOOP)
    page = follow(messages)
    counts = [
        frame["status"]["shown"] for frame in page.frames if frame["status"]["state"] == "running"
    ]
    assert len(set(counts)) >= 5
    assert page.status["state"] == "idle" and len(page.nodes) >= 21
    assert printed(messages) == "done\n"


def test_the_view_of_one_tensor(loaded):
    loaded.run("w = torch.ones(2, requires_grad=True)\nother = w * 3\nloss = (w * w).sum()")
    messages = loaded.run("gradviz.show(loss)")
    (shown,) = displays(messages)
    assert not displays(messages, "execute_result")
    assert set(shown["data"]) == {WIDGET, "text/html", "text/plain"}
    assert "loss" in picture(shown["data"]) and "other" not in picture(shown["data"])
    ops = {row["op"] for row in follow(messages).nodes.values()}
    assert "SumBackward0" in ops


def test_the_handle_keeps_no_tensor(loaded):
    said = printed(loaded.run(
        "import weakref, gc\nloss = (torch.ones(2, requires_grad=True) * 2).sum()\n"
        "ref = weakref.ref(loss)\nshown = gradviz.show(loss)\ndel loss\ngc.collect()\nprint(ref())"
    ))  # fmt: skip
    assert said.splitlines()[-1] == "None"


def test_a_handle_is_shown_again_in_a_later_cell(loaded):
    loaded.run("shown = gradviz.show((torch.ones(2, requires_grad=True) * 2).sum())")
    (again,) = displays(loaded.run("shown"))
    assert WIDGET in again["data"]


def test_show_in_the_middle_of_a_cell_grows(loaded):
    messages = loaded.run(
        "import time\nx = torch.ones(2, requires_grad=True) * 2\ngradviz.show(x)\n"
        "for i in range(10):\n    x = x * 2\n    time.sleep(0.05)"
    )
    page = follow(messages)
    assert len(page.nodes) >= 12 and len({len(f["strings"]) for f in page.frames}) >= 1
    assert page.lost == 0


def test_the_cell_magic(loaded):
    messages = loaded.run("%%gradviz\n" + LOOP)
    assert WIDGET in displays(messages)[0]["data"]
    assert len(follow(messages).nodes) >= 21


def test_the_cell_magic_stays_with_its_cell(loaded):
    loaded.run("old = (torch.ones(2, requires_grad=True) * 2).sum()")
    first = displays(loaded.run("%%gradviz\n1 / 0"))[0]["data"]
    assert WIDGET in first
    messages = loaded.run("%%gradviz\nnew = torch.ones(2, requires_grad=True).exp()")
    second = displays(messages)[0]["data"][WIDGET]["model_id"]
    loaded.run("other = torch.ones(3, requires_grad=True).sin()\n1 / 0")
    empty = follow(loaded.tell(first[WIDGET]["model_id"], t="ready", seq=-1))
    assert not empty.nodes
    page = follow(loaded.tell(second, t="ready", seq=-1))
    assert {row["label"] for row in page.nodes.values()} - {""} == {"new"}
    assert page.status["state"] == "idle"


def test_a_failing_cell(loaded):
    loaded.run("%gradviz")
    messages = loaded.run("w = torch.ones(2, requires_grad=True)\n(w * 2).sum().backward()\n1 / 0")
    kinds = [m["msg_type"] for m in messages if m["msg_type"] in ("error", "display_data")]
    assert kinds[0] == "error"
    assert follow(messages).status["state"] == "failed"


def test_a_hundred_thousand_operations_lose_no_output(loaded):
    loaded.run("%gradviz")
    messages = loaded.run(
        "w = torch.ones(2, requires_grad=True)\nx = w\n"
        "for i in range(100_000):\n    x = x * 1.0\n"
        "    if i % 1000 == 0:\n        print('line', i)\nprint('end')"
    )
    lines = printed(messages).splitlines()
    assert lines == [f"line {i}" for i in range(0, 100_000, 1000)] + ["end"]
    page = follow(messages)
    assert page.status["state"] == "idle" and page.status["total"] >= 100_000
    assert page.status["shown"] == len(page.nodes)


def test_a_page_is_answered(loaded):
    (shown,) = displays(loaded.run("%gradviz"))
    comm = shown["data"][WIDGET]["model_id"]
    loaded.run("w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()")
    page = follow(loaded.tell(comm, t="ready", seq=-1))
    leaf = next(i for i, row in page.nodes.items() if row["label"] == "w")
    for message in loaded.tell(comm, t="inspect", id=leaf):
        content = message["content"].get("data", {}).get("content", {})
        if content.get("t") == "detail":
            page.hear(content)
    assert page.details[leaf]["grad"]["values"] == [2.0, 2.0]


def test_where_no_page_listens_the_picture_takes_the_place_of_the_view(loaded):
    shown = displays(loaded.until_idle(loaded.start("%gradviz")))[0]
    messages = loaded.until_idle(
        loaded.start("w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()")
    )
    (update,) = displays(messages, "update_display_data")
    assert update["transient"]["display_id"] == shown["transient"]["display_id"]
    assert set(update["data"]) == {"text/html", "text/plain"} and "loss" in picture(update["data"])


def test_a_view_opened_by_the_cell_that_loads_us_stays(kernel):
    messages = kernel.run("%load_ext gradviz\n%gradviz")
    sent = displays(messages) + displays(messages, "update_display_data")
    assert sent and all(WIDGET in one["data"] for one in sent)
    for text in ("import gradviz as torch", "y = (torch.ones(2, requires_grad=True) * 2).sum()"):
        for update in displays(kernel.run(text), "update_display_data"):
            assert WIDGET in update["data"]


def test_a_page_that_speaks_late_gets_its_view_back(loaded):
    messages = loaded.until_idle(loaded.start("%gradviz"))
    (shown,), (update,) = displays(messages), displays(messages, "update_display_data")
    assert WIDGET in shown["data"] and WIDGET not in update["data"]
    loaded.tell(shown["data"][WIDGET]["model_id"], t="ready", seq=-1)
    (update,) = displays(loaded.until_idle(loaded.start("x = 2")), "update_display_data")
    assert WIDGET in update["data"]
    assert not displays(loaded.until_idle(loaded.start("x = 3")), "update_display_data")


def test_freezing(loaded):
    loaded.run("loss = (torch.ones(2, requires_grad=True) * 2).sum()\ngradviz.show(loss)")
    messages = loaded.run("%gradviz freeze")
    (update,) = displays(messages, "update_display_data")
    assert set(update["data"]) == {"text/html", "text/plain"}
    assert "1 view" in printed(messages) or "one view" in printed(messages)


def test_freezing_widgets_that_show_themselves(loaded):
    loaded.run("w = torch.ones(2, requires_grad=True)\nloss = (w * 2).sum()")
    shown = displays(loaded.run("gradviz.StorageMap(w=w)", cell_id="a"))[0]["data"]
    assert WIDGET in shown and "8 B: w" in shown["text/plain"]
    loaded.run("player = gradviz.BackwardPlayer(loss)\nplayer.step()\nplayer", cell_id="b")
    updates = displays(loaded.run("%gradviz freeze", cell_id="c"), "update_display_data")
    assert [set(update["data"]) for update in updates] == [{"text/html", "text/plain"}] * 2
    assert printed(loaded.run("print(w.grad, player.state)")).split() == ["None", "aborted"]


def test_a_client_that_only_stores_gets_no_widget(loaded):
    messages = loaded.run("gradviz.StorageMap(w=torch.ones(2))", cell_id=None)
    shown = displays(messages)[0]["data"]
    assert set(shown) == {"text/html", "text/plain"}


def test_the_line_under_a_cell_is_taken_back(loaded):
    messages = loaded.run(
        "history = []\nw = torch.ones(2, requires_grad=True)\n"
        "for i in range(3):\n    loss = (w * w).sum()\n"
        "    loss.backward()\n    history.append(loss)"
    )
    (line,) = displays(messages)
    assert "history" in line["data"]["text/html"]
    (update,) = displays(loaded.run("history.clear()"), "update_display_data")
    assert update["data"]["text/html"] == ""
    assert update["transient"]["display_id"] == line["transient"]["display_id"]


def test_nothing_is_left_running(loaded):
    loaded.run("%gradviz")
    loaded.run(LOOP.replace("0.05", "0"))
    said = printed(
        loaded.run(
            "import threading\n%gradviz off\n"
            "print([t.name for t in threading.enumerate() if 'gradviz' in t.name])"
        )
    )
    assert said.splitlines()[-1] == "[]"


def test_interrupting_a_cell_in_the_middle_of_backward(loaded):
    loaded.run("%gradviz")
    loaded.run(
        "import threading, _thread\nw = torch.ones(2, requires_grad=True)\nx = w\n"
        "for i in range(50):\n    x = x * 1.5"
    )
    messages = loaded.run(
        "loss = x.sum()\nx.register_hook(lambda grad: _thread.interrupt_main())\nloss.backward()\n"
        "for i in range(10**7): pass"
    )
    (error,) = [m["content"] for m in messages if m["msg_type"] == "error"]
    assert error["ename"] == "KeyboardInterrupt"
    assert follow(messages).status["state"] == "interrupted"
    assert "gradviz" not in printed(messages)
    assert printed(loaded.run("print(1)")) == "1\n"


def test_show_while_something_else_watches(kernel):
    kernel.run("import gradviz, gradviz as torch\nfrom gradviz.engine import events")
    kernel.run("events.attach(events.Observer())")
    messages = kernel.run("gradviz.show((torch.ones(2, requires_grad=True) * 2).sum())")
    (shown,) = displays(messages)
    assert "SumBackward0" in picture(shown["data"]) and WIDGET not in shown["data"]
    assert "already watches" in printed(kernel.run("%load_ext gradviz"))
