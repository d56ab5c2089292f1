"""``gradviz check`` from the outside: what it prints, where, and its exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAKING = """# ---
# title: kept losses
# ---
# %%
import torch
# %%
import torch.nn.functional as F
from torch import nn
w = torch.tensor([0.5, -0.25], requires_grad=True)
history = []
# %%
for step in range(5):
    loss = (w * w).sum()
    loss.backward()
    history.append(loss)
print("user output", loss.item())
"""
QUIET = "loss)  # gradviz: ignore[GV101]\n"
SOUND = LEAKING.replace("history.append(loss)", "history.append(loss.item())")


FOREIGN = {
    "nbformat": 4,
    "metadata": {"kernelspec": {"name": "ir", "language": "R"}},
    "cells": [{"cell_type": "code", "source": "1 + 1"}],
}


def gradviz(*arguments, cwd):
    """Run the command; stdout, stderr and status."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "gradviz.cli.main", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True, text=True, cwd=cwd, check=False,
    )  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    return write_file


def test_a_leak_in_json(write, tmp_path):
    ended = gradviz("check", "--format", "json", write("case.py", LEAKING), cwd=tmp_path)
    report = json.loads(ended.stdout)
    assert ended.returncode == 1, ended.stderr
    assert set(report) == {"findings", "errors"} and report["errors"] == []
    found = next(f for f in report["findings"] if f["severity"] != "info")
    assert set(found) == {
        "rule",
        "kind",
        "severity",
        "holders",
        "cell",
        "line",
        "nodes",
        "bytes",
        "count",
        "message",
        "fix",
    }
    assert (found["kind"], found["cell"], found["line"]) == ("leak.container", 3, 4)
    assert any(holder.startswith("history[") for holder in found["holders"])
    assert "user output" in ended.stderr


def test_a_leak_in_words_and_in_chinese(write, tmp_path):
    file = write("case.py", LEAKING)
    english = gradviz("check", file, cwd=tmp_path)
    chinese = gradviz("check", file, "--lang", "zh", cwd=tmp_path)
    assert "In [3], line 4" in english.stdout and "history[" in english.stdout
    assert "第 4 行" in chinese.stdout and "处问题" in chinese.stdout
    assert english.returncode == chinese.returncode == 1


def test_a_sound_program(write, tmp_path):
    ended = gradviz("check", write("case.py", SOUND), cwd=tmp_path)
    assert (ended.returncode, ended.stdout.count("\n")) == (0, 1)
    ended = gradviz("check", "--format", "json", "case.py", cwd=tmp_path)
    assert ended.returncode == 0 and json.loads(ended.stdout)["errors"] == []


def test_errors_are_reported_and_the_rest_still_runs(write, tmp_path):
    text = "# %%\nimport torch\n# %%\nraise ValueError('two words')\n# %%\nprint('later', 1)\n"
    ended = gradviz("check", "--format", "json", write("a.py", text), cwd=tmp_path)
    assert ended.returncode == 1 and "later 1" in ended.stderr
    assert json.loads(ended.stdout)["errors"] == [
        {"cell": 2, "type": "ValueError", "message": "two words"}
    ]


def test_a_script_keeps_its_lines_arguments_and_folder(write, tmp_path):
    write("helper.py", "value = 7\n")
    text = (
        "import sys, torch\nimport helper\nassert __name__ == '__main__' and len(sys.argv) == 1\n"
    )
    text += "w = torch.ones(2, requires_grad=True)\nkept = []\n\n\n"
    text += "def step():\n    loss = (w * w).sum()\n    loss.backward()\n    kept.append(loss)\n\n"
    text += "for i in range(4):\n    step()\n"
    ended = gradviz("check", write("run.py", text), cwd=tmp_path.parent)
    assert "run.py:11" in ended.stdout, ended.stdout + ended.stderr
    assert ended.returncode == 1


def test_a_notebook(write, tmp_path):
    cells = [
        "%load_ext gradviz\nimport gradviz as torch",
        "%gradviz",
        "w = torch.ones(2, requires_grad=True)",
        "(w * w).sum().backward()",
    ]
    book = {"nbformat": 4, "cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    ended = gradviz("check", write("a.ipynb", json.dumps(book)), cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_several_files(write, tmp_path):
    files = [write("good.py", SOUND), write("bad.py", LEAKING)]
    ended = gradviz("check", *files, cwd=tmp_path)
    assert ended.returncode == 1 and "good.py" in ended.stdout and "bad.py" in ended.stdout
    ended = gradviz("check", "--format", "json", *files, cwd=tmp_path)
    assert {f["file"] for f in json.loads(ended.stdout)["findings"]} == {str(files[1])}
    ended = gradviz("check", *files, "missing.py", cwd=tmp_path)
    assert ended.returncode == 2 and "bad.py" in ended.stdout


def test_files_that_cannot_be_run_among_others(write, tmp_path):
    text = write("other.ipynb", json.dumps(FOREIGN))
    files = ["missing.py", write("good.py", SOUND), text, write("bytes.py", "\0")]
    ended = gradviz("check", "--format", "json", *files, cwd=tmp_path)
    report = json.loads(ended.stdout)
    assert ended.returncode == 2 and report["findings"] == []
    assert [set(error) for error in report["errors"]] == [{"file", "cell", "type", "message"}] * 3
    assert [error["file"] for error in report["errors"]] == [str(files[i]) for i in (0, 2, 3)]
    said = [line for line in ended.stderr.splitlines() if line.startswith("gradviz check: ")]
    assert len(said) == 3 and "missing.py" in said[0] and " R;" in said[1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.py", ""),
        ("broken.ipynb", "{"),
        ("syntax.py", "def f(:\n"),
        ("dead.py", "import os\nos._exit(7)\n"),
    ],
)
def test_what_could_not_run(write, tmp_path, name, content):
    for form in ("text", "json"):
        ended = gradviz("check", "--format", form, write(name, content), cwd=tmp_path)
        assert ended.returncode == 2
        if form == "json":
            (error,) = json.loads(ended.stdout)["errors"]
            assert set(error) == {"cell", "type", "message"}
        else:
            assert ended.stdout == ""
        assert ended.stderr.splitlines()[-1].startswith("gradviz check: ")
        assert "gradviz" not in "".join(ended.stderr.splitlines()[:-1])


def test_an_error_of_syntax_has_its_line(write, tmp_path):
    script = gradviz("check", "--format", "json", write("a.py", "x = 1\ny = = 2\n"), cwd=tmp_path)
    assert json.loads(script.stdout)["errors"] == [
        {"cell": 1, "type": "SyntaxError", "message": "invalid syntax (line 2)"}
    ]
    assert script.stderr.splitlines()[-1] == (
        f"gradviz check: {tmp_path / 'a.py'}: SyntaxError: invalid syntax (line 2)"
    )
    cells = write("b.py", "# %%\nimport torch\n# %%\n\ny = = 2\n")
    ended = gradviz("check", cells, cwd=tmp_path)
    assert ended.returncode == 1
    assert "In [2]: SyntaxError: invalid syntax (line 2)" in ended.stdout


def test_a_missing_file_is_one_line(tmp_path):
    ended = gradviz("check", "none.py", cwd=tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("leave", "status", "said"),
    [("exit(0)", 0, ""), ("exit()", 0, ""), ("exit('bad')", 1, "bad\n"), ("exit(3)", 1, "")],
)
def test_leaving_early_says_what_python_says(write, tmp_path, leave, status, said):
    ended = gradviz("check", write("a.py", f"import sys\nsys.{leave}\n"), cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (status, said)


def test_a_long_program_is_looked_at_to_its_end(write, tmp_path):
    start = "import torch\nw = torch.ones(2, requires_grad=True)\nkept = []\n"
    small = "# %%\ny = w * 2\n"
    leak = "# %%\nfor i in range(5):\n    loss = (w * w).sum()\n    loss.backward()\n"
    text = start + 130 * small + leak + "    kept.append(loss)\n" + 2 * small
    ended = gradviz("check", "--format", "json", write("a.py", text), cwd=tmp_path)
    found = [f for f in json.loads(ended.stdout)["findings"] if f["severity"] != "info"]
    assert [(f["kind"], f["cell"], f["line"]) for f in found] == [("leak.container", 132, 4)]


def test_hostile_names_stay_on_their_line(write, tmp_path):
    text = "# %%\nimport torch\n# %%\nclass Odd(dict):\n"
    text += "    def __repr__(self):\n        raise RuntimeError('no')\n"
    text += "d = Odd()\nw = torch.ones(2, requires_grad=True)\nfor i in range(3):\n"
    text += "    loss = (w * w).sum()\n    loss.backward()\n    d['<b>\\x1b[31m%d\"' % i] = loss\n"
    ended = gradviz("check", write("a.py", text), cwd=tmp_path)
    assert ended.returncode in (0, 1) and "\x1b" not in ended.stdout


def test_rules_are_chosen_and_comments_silence(write, tmp_path):
    quiet = LEAKING.replace("loss)\n", QUIET).replace(".sum()", ".mean()")
    files = write("case.py", LEAKING), write("quiet.py", quiet)
    assert (
        gradviz("check", "--ignore", "GV6,leak.container", files[0], cwd=tmp_path).returncode == 0
    )
    ended = gradviz("check", "--select", "leak,GV303", files[1], cwd=tmp_path)
    assert ended.returncode == 0 and "GV101" not in ended.stdout
    assert "GV303  w.grad is the sum of 5" in ended.stdout  # a remark


def test_other_formats_name_the_line_of_the_file(write, tmp_path):
    file = write("case.py", LEAKING)
    book = {"nbformat": 4, "metadata": {}, "cells": []}
    for text in LEAKING.split("# %%\n")[1:]:
        lines = text.splitlines(keepends=True)
        book["cells"].append({"cell_type": "code", "source": lines})
    notebook = write("case.ipynb", json.dumps(book, indent=1))
    ended = gradviz("check", "--format", "sarif", file, notebook, cwd=tmp_path)
    run = json.loads(ended.stdout)["runs"][0]
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    at = {p["artifactLocation"]["uri"]: p["region"]["startLine"] for p in places}
    assert LEAKING.splitlines()[at["case.py"] - 1].strip() == "history.append(loss)"
    assert "history.append(loss)" in notebook.read_text().splitlines()[at["case.ipynb"] - 1]
    assert run["tool"]["driver"]["rules"][0]["id"] == run["results"][0]["ruleId"] == "GV101"
    failing = "# %%\nimport torch\n# %%\n\nx = torch.ones(2)\nx.backward()\n"
    bad = write("bad.py", failing)
    said = gradviz("check", "--format", "github", file, bad, cwd=tmp_path).stdout
    assert said.startswith(f"::warning file=case.py,line={at['case.py']},title=GV101::")
    assert "::error file=bad.py,line=6,title=RuntimeError::" in said
