"""``gradviz workshop``: lessons without solutions, and as a course for nbgrader."""

import json

import pytest

from gradviz import texts
from gradviz.cli.main import main

LESSONS = ("02_leaf", "05")


@pytest.fixture(autouse=True)
def language():
    yield
    texts.set_language(None)


def write(folder, *arguments):
    return main(["workshop", str(folder), "--lessons", *LESSONS, *arguments])


def cells(file):
    return json.loads(file.read_text(encoding="utf-8"))["cells"]


def sources(file):
    return ["".join(cell["source"]) for cell in cells(file)]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_handout_has_no_solution(tmp_path, root, lang):
    assert write(tmp_path, "--lang", lang) == 0
    ending = ".ipynb" if lang == "en" else ".zh.ipynb"
    files = sorted(tmp_path.iterdir())
    names = ("02_leaf_intermediate_root", "05_accumulation")
    assert [file.name for file in files] == [name + ending for name in names]
    for file in files:
        lesson = cells(root / "examples" / file.name)
        kept = [c for c in lesson[:-1] if "solution" not in c["metadata"].get("tags", ())]
        assert cells(file) == kept and len(kept) < len(lesson) - 1


def test_nothing_is_replaced(tmp_path, capsys):
    assert write(tmp_path) == 0
    file = tmp_path / "05_accumulation.ipynb"
    file.write_text("a learner's work")
    assert write(tmp_path) == 2
    assert "is there already" in capsys.readouterr().err
    assert file.read_text() == "a learner's work"
    assert main(["workshop", str(tmp_path), "--lessons", "77"]) == 2


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert write(tmp_path / "file" / "folder") == 2
    said = capsys.readouterr().err
    assert "nothing can be written" in said and said.count("\n") == 1


@pytest.fixture
def course(tmp_path):
    assert write(tmp_path, "--nbgrader") == 0
    return tmp_path


def test_a_course_has_marks_and_hides_its_solutions(course):
    assert "code_stub" in (course / "nbgrader_config.py").read_text()
    for source in (course / "source").glob("*/*.ipynb"):
        release = course / "release" / source.relative_to(course / "source")
        marks = [c["metadata"]["nbgrader"] for c in cells(release) if "nbgrader" in c["metadata"]]
        assert len({mark["grade_id"] for mark in marks}) == len(marks) >= 4
        exercises = [mark for mark in marks if mark["solution"]]
        assert len(exercises) == sum(mark.get("points", 0) for mark in marks)
        assert all(mark["grade"] != mark["solution"] for mark in marks)
        assert "### BEGIN SOLUTION" in "\n".join(sources(source))
        assert "SOLUTION" not in "\n".join(sources(release))


def run(file, tmp_path, monkeypatch):
    """The errors of the cells of a notebook, in order."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    monkeypatch.chdir(tmp_path)
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config, ipython_dir=str(tmp_path))
    try:
        code = ["".join(c["source"]) for c in cells(file) if c["cell_type"] == "code"]
        results = [shell.run_cell(text, store_history=True) for text in code]
        return [type(result.error_in_exec) for result in results if not result.success]
    finally:
        shell.run_cell("%unload_ext gradviz", silent=True)
        shell.reset()
        InteractiveShell.clear_instance()


@pytest.mark.parametrize("name", ["02_leaf_intermediate_root", "05_accumulation"])
def test_checks_pass_on_the_source_and_fail_on_the_release(course, tmp_path, monkeypatch, name):
    points = [c for c in cells(course / "source" / name / f"{name}.ipynb")
              if c["metadata"].get("nbgrader", {}).get("grade")]  # fmt: skip
    assert run(course / "source" / name / f"{name}.ipynb", tmp_path, monkeypatch) == []
    failed = run(course / "release" / name / f"{name}.ipynb", tmp_path, monkeypatch)
    assert failed == [AssertionError] * len(points)


def test_every_lesson_can_be_graded(tmp_path, root):
    """Each exercise has its solution; a course of all lessons can be written."""
    assert main(["workshop", str(tmp_path), "--nbgrader"]) == 0
    lessons = {file.name.split(".")[0] for file in (tmp_path / "source").iterdir()}
    assert lessons >= {"03_requires_grad", "12_nan_and_clipping"}
