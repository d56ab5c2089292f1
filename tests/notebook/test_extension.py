"""Loading, unloading and all between in a shell with no front end: a clear line or silence."""

import gc
import re
import subprocess
import sys
import weakref

import pytest

from gradviz.engine import events
from gradviz.notebook.extension import ATTRIBUTE, current

LEAK = """history = []
w = torch.tensor([1.0, 2.0], requires_grad=True)
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    history.append(loss)"""


def test_loading_says_nothing_and_brings_the_magics(run, shell):
    assert run("%load_ext gradviz") == ""
    assert "gradviz" in shell.magics_manager.magics["line"]
    assert "gradviz" in shell.magics_manager.magics["cell"]
    assert events.door.observer is not None


def test_twice_and_again(run):
    run("%load_ext gradviz")
    assert "already loaded" in run("%load_ext gradviz")
    assert run("%reload_ext gradviz") == ""
    assert "Traceback" not in run(
        "import gradviz as torch\n(torch.ones(2, requires_grad=True) * 2).sum().backward()"
    )


def test_unloading_leaves_nothing(run, shell):
    before = {name: list(calls) for name, calls in shell.events.callbacks.items()}
    transformers = list(shell.input_transformers_cleanup)
    run("%load_ext gradviz")
    run("import gradviz as torch\n" + LEAK)
    extension = current(shell)
    gone = [
        weakref.ref(thing)
        for thing in (extension, extension.session, extension.session.recorder, extension.magics)
    ]
    del extension
    assert run("%unload_ext gradviz") == ""
    gc.collect()
    assert [ref() for ref in gone] == [None] * 4
    assert events.door.observer is None
    assert not hasattr(shell, ATTRIBUTE)
    assert {name: list(calls) for name, calls in shell.events.callbacks.items()} == before
    assert shell.input_transformers_cleanup == transformers
    assert "GradvizMagics" not in shell.magics_manager.registry
    assert "not found" in run("%gradviz")


def test_unloading_in_the_middle_of_a_cell(run, shell):
    run("%load_ext gradviz")
    said = run(
        "import gradviz as torch\nx = torch.ones(2, requires_grad=True) * 2\n"
        "%unload_ext gradviz\ny = x * 2\ny.sum().backward()"
    )
    assert said == "" and events.door.observer is None
    assert run("y = x * 3") == ""


def test_a_notebook_that_never_uses_gradviz(run):
    run("%load_ext gradviz")
    assert run("x = 1\nprint(x)") == "1\n"
    assert "ZeroDivisionError" in run("1 / 0")


def test_another_watcher(run, shell):
    other = events.Observer()
    events.attach(other)
    try:
        said = run("%load_ext gradviz")
        assert said.count("\n") == 1 and "already watches" in said
        assert current(shell) is None
    finally:
        events.detach(other)


def test_a_leak_is_said_and_goes(run):
    run("%load_ext gradviz\nimport gradviz as torch")
    said = run(LEAK)
    assert said.count("\n") == 1 and "history" in said and "In [2], line 6" in said
    assert run("1;") == ""
    assert "history" in run("%gradviz leaks")
    run("history.clear()")
    assert "nothing" in run("%gradviz leaks")


def test_correct_code_gets_nothing(run):
    run("%load_ext gradviz\nimport gradviz as torch")
    assert run(LEAK.replace("append(loss)", "append(loss.item())")) == ""


def test_the_exception_comes_first_and_unchanged(run, shell):
    run("%load_ext gradviz\nimport gradviz as torch")
    failing = "w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\n"
    failing += "loss.backward()\nloss.backward()"
    shell.run_cell(failing, store_history=True)
    watched = shell.last_execution_result.error_in_exec
    assert type(watched) is RuntimeError and "second time" in str(watched)
    said = run(failing)
    assert said.lstrip().splitlines()[0].startswith(("-", "RuntimeError", "Traceback"))


def test_an_interrupt_in_the_middle_of_backward(run, shell):
    run("%load_ext gradviz\nimport gradviz as torch")
    said = run(
        "def stop(grad):\n    raise KeyboardInterrupt\n"
        "w = torch.ones(2, requires_grad=True)\nh = w * 2\n"
        "h.register_hook(stop)\n(h * h).sum().backward()"
    )
    assert "KeyboardInterrupt" in said and "callback" not in said
    assert run("(w * 3).sum().backward(); print(w.grad)").startswith("tensor(")


def test_handlers_accept_a_cell_without_a_beginning(shell, run):
    run("%load_ext gradviz")
    extension = current(shell)
    extension.cells.after(shell.last_execution_result)
    extension.cells.after(shell.last_execution_result)
    assert run("x = 1") == ""


def test_an_error_of_our_own_is_one_line(shell, run, monkeypatch):
    run("%load_ext gradviz")
    monkeypatch.setattr(current(shell).session, "end", lambda *a: 1 / 0)
    said = run("print('mine')")
    assert said.startswith("mine\n") and said.count("\n") == 2 and "ZeroDivisionError" in said
    assert run("print('mine')") == "mine\n"


def test_cells_inside_cells_are_one(shell, run):
    run("%load_ext gradviz\nimport gradviz as torch")
    run("get_ipython().run_cell('a = torch.ones(2, requires_grad=True) * 2')\nb = a * 2")
    cells = current(shell).session.recorder.trace.cells
    assert [cell.count for cell in cells] == [1, 2]


def test_the_magic_in_a_terminal(run):
    run("%load_ext gradviz\nimport gradviz as torch")
    assert "needs a notebook" in run("%gradviz")
    assert "gradviz is on" in run("%gradviz status")
    assert "no view" in run("%gradviz freeze")
    assert "gradviz is off" in run("%gradviz off")
    assert "off already" in run("%gradviz off")
    assert "off already" in run("%gradviz status")
    assert run("x = torch.ones(2, requires_grad=True) * 2") == ""
    assert "needs a notebook" in run("%gradviz on")
    assert "gradviz is on" in run("%gradviz status")


@pytest.mark.parametrize(
    "bad",
    ["%gradviz fly", "%gradviz lang xx", "%gradviz lang", "%gradviz on off", "%gradviz lang zh en"]
    + [f"%gradviz {ask}{what}" for ask in ("explain", "why", "step") for what in ("", " no", " 3")]
    + ["%gradviz step w[", "%gradviz step w.no", "%gradviz step 1/0", "%gradviz step [][1]"],
)
def test_bad_words_get_one_line(run, bad):
    run("%load_ext gradviz\nimport gradviz as torch\nw = torch.ones(2, requires_grad=True)")
    said = run(bad)
    assert said.startswith("UsageError") and said.count("\n") == 1


def test_a_backward_that_cannot_be_stepped_through_says_why_and_what_to_do(run):
    run("%load_ext gradviz\nimport gradviz as torch\nw = torch.ones(2, requires_grad=True)")
    said = run("%gradviz step w * 2").splitlines()
    assert "scalar outputs" in said[0] and "loss.sum()" in said[1] and len(said) == 2


@pytest.mark.parametrize("asked", ["help", "--help", "-h", "?"])
def test_help_is_printed(run, asked):
    run("%load_ext gradviz")
    assert "%gradviz explain" in run(f"%gradviz {asked}")


def test_what_pytorch_refuses_to_go_back_through_is_told_in_a_line(run):
    pytest.importorskip("torch", reason="asks about PyTorch's tensors, which are not installed")
    run("%load_ext gradviz\nimport torch\nw = torch.ones(2, requires_grad=True)")
    said = run("%gradviz step w * 2")
    assert "only for scalar outputs" in said and said.count("\n") == 1


def test_a_failed_cell_keeps_nothing_through_the_shell(run):
    run("%load_ext gradviz\nimport gradviz as torch\nw = torch.ones(2, requires_grad=True)")
    run("w * 2")
    assert "GV106" not in run("raise ValueError('no')")
    assert "traceback" not in run("%gradviz why w")


def test_language(run):
    from gradviz import texts

    try:
        run("%load_ext gradviz")
        assert "中文" in run("%gradviz lang zh")
        assert "没有" in run("%gradviz leaks")
        assert "English" in run("%gradviz lang en")
    finally:
        texts.set_language(None)


def test_settings(run, shell):
    run("%load_ext gradviz")
    assert "fps" in run("%config GradvizMagics")
    run("%config GradvizMagics.fps = 10\n")
    assert current(shell).session.ticker.period == 0.1
    run("import gradviz as torch\n%config GradvizMagics.lines = False")
    assert run(LEAK) == ""


def test_the_cell_magic_keeps_lines_errors_and_values(run, shell):
    run("%load_ext gradviz\nimport gradviz as torch")
    assert run("%%gradviz\nx = 41\nx + 1").strip().endswith("42")
    run("%%gradviz\n\nx = torch.ones(2, requires_grad=True) * 2")
    nodes = current(shell).session.recorder.trace.nodes.values()
    assert 3 in {node.place.line for node in nodes if node.place}
    assert "ZeroDivisionError" in run("%%gradviz\n1 / 0")
    assert isinstance(shell.last_execution_result.error_in_exec, ZeroDivisionError)
    assert shell.run_cell_magic("gradviz", "", "y = 5") is None and shell.user_ns["y"] == 5


def test_show_prints_the_graph(run):
    run("%load_ext gradviz\nimport gradviz, gradviz as torch")
    run("w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()")
    said = run("gradviz.show(loss)")
    assert "loss = SumBackward0" in said and "w: " in said
    assert "no graph" in run("gradviz.show(torch.ones(2))")
    assert "TypeError: gradviz.show needs a tensor, got int" in run("gradviz.show(3)")


def test_show_without_the_extension(run):
    run("import gradviz, gradviz as torch")
    assert "SumBackward0" in run("gradviz.show((torch.ones(2, requires_grad=True) * 2).sum())")
    assert events.door.observer is None


def test_loading_is_light(root, tmp_path):
    text = (
        "import sys\nfrom IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\nshell.run_cell('%load_ext gradviz')\n"
        "heavy = 'scipy anywidget ipywidgets graphviz ml_dtypes gradviz.nn'.split()\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    environment = {"PYTHONPATH": str(root), "IPYTHONDIR": str(tmp_path), "PATH": ""}
    ended = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=True
    )
    assert ended.stdout == "[]\n", ended.stdout + ended.stderr


def test_instructor_mode_needs_a_front_end(run):
    run("%load_ext gradviz")
    assert "needs a notebook" in run("%gradviz instructor")
    assert "write %gradviz instructor" in run("%gradviz instructor loudly")


def test_a_rule_that_does_not_exist_is_said_when_it_is_configured(run):
    run("%load_ext gradviz")
    assert run('%config GradvizMagics.ignore = ["GV1", "alias"]') == ""
    assert "no rule or kind is called GX" in run('%config GradvizMagics.select = ["GX"]')


def test_help_tells_every_action_in_the_language(run):
    from gradviz import texts
    from gradviz.notebook.magics import ACTIONS

    run("%load_ext gradviz")
    try:
        for lang, first in {"en": "Open, close", "zh": "打开、关闭"}.items():
            texts.set_language(lang)
            said = run("%gradviz?")
            assert first in said
            assert not [action for action in ACTIONS if not re.search(rf"\b{action}\b", said)]
    finally:
        texts.set_language(None)
