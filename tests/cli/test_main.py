"""The command: help in both languages, choices, the examples, what a missing extra says."""

import pytest

from gradviz import texts
from gradviz.cli import demo, lab
from gradviz.cli.examples import example, folder_of_examples
from gradviz.cli.main import main


@pytest.fixture(autouse=True)
def language():
    yield
    texts.set_language(None)


def test_help(capsys):
    for arguments in (["--help"], ["check", "--help"], ["demo", "--help"], ["lab", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "check" in said and "# %%" in said and "# % " not in said and "# %'" not in said


def test_help_in_chinese(capsys):
    with pytest.raises(SystemExit):
        main(["check", "--help", "--lang", "zh"])
    assert "笔记本" in capsys.readouterr().out


@pytest.mark.parametrize(
    "bad",
    [
        [],
        ["fly"],
        ["check"],
        ["check", "a.py", "--lang", "xx"],
        ["check", "a.py", "--format", "xml"],
    ],
)
def test_bad_arguments_end_with_2(bad, capsys):
    with pytest.raises(SystemExit) as ended:
        main(bad)
    assert ended.value.code == 2


def test_examples_are_found():
    assert folder_of_examples().name == "examples"
    assert example("02_digits").name == "02_digits.ipynb"
    texts.set_language("zh")
    assert example("02_digits").name == "02_digits.zh.ipynb"
    assert example("99_nothing") is None


def test_a_missing_extra_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: None)
    for arguments in (["demo", "--no-lab"], ["lab", "."]):
        assert main(arguments) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "gradviz-notebook[lab]" in said


def test_lab_on_a_missing_path(capsys):
    assert main(["lab", "/nowhere/at/all.ipynb"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_missing_example_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(demo, "example", lambda name: None)
    assert main(["demo", "--no-lab"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_lab_prints_its_address_and_ends_in_order(monkeypatch, capsys, tmp_path):
    started = {}

    class Process:
        def __init__(self, command, env):
            started.update(command=command, token=env["JUPYTER_TOKEN"], waits=0)

        def wait(self):
            started["waits"] += 1
            if started["waits"] == 1:
                raise KeyboardInterrupt
            return -15

        def terminate(self):
            started["ended"] = True

    monkeypatch.setattr(lab.subprocess, "Popen", Process)
    monkeypatch.setattr(
        lab.webbrowser, "get", lambda: (_ for _ in ()).throw(lab.webbrowser.Error())
    )
    (tmp_path / "a.ipynb").write_text("{}")
    assert main(["lab", str(tmp_path / "a.ipynb")]) == 0
    said = capsys.readouterr().out
    assert f"/lab/tree/a.ipynb?token={started['token']}" in said and "no browser" in said
    assert "--no-browser" in started["command"] and started["token"] not in " ".join(
        started["command"]
    )
    assert started["ended"] and started["waits"] == 2
