"""The command: help in both languages, choices, the examples, what a missing extra says."""

import subprocess
import sys

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
        assert said.count("\n") == 1 and "'.[lab]'" in said


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


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0 and capsys.readouterr().out.startswith("gradviz 0")


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["launch", "--help"]])
def test_chinese_help_has_no_english_headings(arguments, capsys, monkeypatch):
    monkeypatch.setenv("GRADVIZ_LANG", "zh")
    with pytest.raises(SystemExit):
        main(arguments)
    said = capsys.readouterr().out
    assert said.startswith("用法：")
    assert not any(word in said for word in ("usage:", "options:", "positional", "show this"))


def test_lab_speaks_the_language_that_was_asked_for(monkeypatch, tmp_path):
    started = []

    class Lab:
        def __init__(self, command, env):
            started.append(env.get("GRADVIZ_LANG"))

        def wait(self):
            return 0

    monkeypatch.setattr(lab.subprocess, "Popen", Lab)
    monkeypatch.delenv("GRADVIZ_LANG")
    for arguments in (["lab", str(tmp_path)], ["lab", str(tmp_path), "--lang", "zh"]):
        assert main(arguments) == 0
    assert started == [None, "zh"]


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_a_rule_that_does_not_exist_is_refused(option, tmp_path, capsys):
    file = tmp_path / "a.py"
    file.write_text("print(1)")
    assert main(["check", str(file), option, "GV101,GX1,leaks"]) == 2
    assert "GX1, leaks" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--lang", "zh", "check"], ["check", "--lang", "zh"]])
def test_the_language_may_stand_before_the_command_and_after_it(arguments, tmp_path, capsys):
    assert main([*arguments, str(tmp_path / "no.py")]) == 2
    assert "文件不存在" in capsys.readouterr().err


def test_python_dash_m():
    command = [sys.executable, "-m", "gradviz", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.startswith("gradviz 0")


def test_a_reader_that_has_had_enough_is_no_error(tmp_path):
    file = tmp_path / "quiet.py"
    file.write_text("x = 1\n")
    command = f"{sys.executable} -m gradviz check --format sarif {file} | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
