"""The examples run, in both languages, and show what their text says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

NAMES = ["01_first_graph", "02_digits"]
SOURCES = sorted(f.stem for f in Path(__file__).parents[2].glob("examples/[0-9][0-9]_*.py"))
LANGUAGES = {"en": ".ipynb", "zh": ".zh.ipynb"}


@pytest.fixture(scope="module")
def executed(root, tmp_path_factory):
    """``executed(name, lang)``: the notebook after a run in a real kernel, each run once."""
    done = {}
    progress = str(tmp_path_factory.mktemp("learner") / "progress.json")
    environment = os.environ | {"GRADVIZ_PROGRESS": progress}

    def run(name, lang="en"):
        if (name, lang) not in done:
            book = nbformat.read(root / "examples" / (name + LANGUAGES[lang]), as_version=4)
            context = {"metadata": {"path": str(root)}}
            client = NotebookClient(book, timeout=120, resources=context)
            done[name, lang] = client.execute(env=environment)
        return done[name, lang]

    return run


def code_cells(book):
    return [cell for cell in book.cells if cell.cell_type == "code"]


def cell_with(book, text):
    (cell,) = (cell for cell in code_cells(book) if text in cell.source)
    return cell


def printed(cell):
    return "".join(out.text for out in cell.outputs if out.output_type == "stream")


def errors(book):
    return [out for c in code_cells(book) for out in c.outputs if out.output_type == "error"]


def shown(cell):
    """What a cell displays, by MIME type."""
    kinds = ("display_data", "execute_result")
    outputs = (out.data for out in cell.outputs if out.output_type in kinds)
    return {mime: data for output in outputs for mime, data in output.items()}


def test_the_notebooks_are_built_from_their_sources(root):
    command = [sys.executable, str(root / "examples" / "build.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}run `python examples/build.py`"


@pytest.mark.parametrize("name", SOURCES)
def test_every_text_stands_in_both_languages(root, name):
    book = jupytext.read(root / "examples" / f"{name}.py", fmt="py:percent")
    texts = [cell.metadata.get("lang") for cell in book.cells if cell.cell_type == "markdown"]
    assert texts == ["en", "zh"] * (len(texts) // 2)


@pytest.mark.parametrize("name", SOURCES)
def test_both_languages_run_the_same_code(root, name):
    books = [nbformat.read(root / "examples" / (name + end), 4) for end in LANGUAGES.values()]
    first, second = ([cell.source for cell in code_cells(book)] for book in books)
    load = "%load_ext gradviz\n"  # after it the Chinese one says which language is to be spoken
    assert [code.replace(load, f"{load}%gradviz lang zh\n") for code in first] == second


@pytest.mark.parametrize("name", [name for name in SOURCES if name not in NAMES])
def test_a_lesson_runs_as_it_is_given(executed, name):
    """Nothing of the learner's is filled in; ``test_lessons.py`` plays the answers."""
    book = executed(name)
    announced = [c for c in code_cells(book) if "raises-exception" in c.metadata.get("tags", [])]
    assert len(errors(book)) == len(announced)
    assert any("text/html" in shown(cell) for cell in code_cells(book))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_runs_with_only_the_errors_it_announces(executed, name, lang):
    book = executed(name, lang)
    announced = [c for c in code_cells(book) if "raises-exception" in c.metadata.get("tags", [])]
    assert len(errors(book)) == len(announced)


def test_the_first_graph_gives_the_gradients_of_its_formulas(executed):
    book = executed("01_first_graph")
    out = printed(cell_with(book, '" x.grad ="'))
    assert out.split("\n")[0] == "w.grad = 28.0  x.grad = 42.0  b.grad = 14.0"
    lines = printed(cell_with(book, "for _ in range(2)")).splitlines()
    assert lines[:2] == ["w.grad = 56.0", "w.grad = 84.0"]
    kinds = printed(cell_with(book, "h.is_leaf")).splitlines()
    assert kinds[0].split() == ["w", "True", "None"]
    assert kinds[1].split() == ["h", "False", "MulBackward0"]
    assert kinds[2].split() == ["loss", "False", "PowBackward0", "49.0"]


def test_the_second_backward_shows_the_real_error(executed):
    (error,) = errors(executed("01_first_graph"))
    assert error.ename == "RuntimeError"
    assert error.evalue.startswith("Trying to backward through the graph a second time")


def test_the_regression_finds_the_slope_of_least_squares(executed):
    line = printed(cell_with(executed("01_first_graph"), "np.polyfit")).splitlines()[0]
    ours, exact = (float(part.split()[-1]) for part in line.split(","))
    assert abs(ours - exact) < 1e-3


def test_the_digits_reach_95_percent(executed):
    line = printed(cell_with(executed("02_digits"), "test accuracy")).splitlines()[0]
    assert float(line.split()[-1].rstrip("%")) >= 95


@pytest.mark.parametrize("name", NAMES)
def test_graphs_are_shown_with_a_picture_for_where_widgets_do_not_run(executed, name):
    cells = [cell for cell in code_cells(executed(name)) if "gradviz.show(" in cell.source]
    assert cells
    for data in map(shown, cells):
        assert 'src="data:image/svg+xml;base64,' in data["text/html"]
        assert data["text/plain"].startswith("gradviz: ")


def test_the_planted_leak_is_named_under_its_cell(executed):
    cell = cell_with(executed("02_digits"), "losses.append(loss)")
    line = shown(cell)["text/plain"]
    assert "losses" in line and "loss.item()" in line


def check(root, tmp_path, book):
    """What ``gradviz check`` says about a notebook."""
    file = tmp_path / "book.ipynb"
    nbformat.write(book, file)
    command = [sys.executable, "-m", "gradviz.cli.main", "check", "--format", "json", str(file)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120)
    return done.returncode, json.loads(done.stdout)


def test_check_finds_exactly_the_planted_leak(root, tmp_path):
    book = nbformat.read(root / "examples" / "02_digits.ipynb", as_version=4)
    status, report = check(root, tmp_path, book)
    cells = code_cells(book)
    cell = cell_with(book, "losses.append(loss)")
    line = cell.source.splitlines().index("        losses.append(loss)") + 1
    leaks = [finding for finding in report["findings"] if finding["severity"] != "info"]
    assert status == 1
    assert [leak["kind"] for leak in leaks] == ["leak.container"]
    assert (leaks[0]["cell"], leaks[0]["line"]) == (cells.index(cell) + 1, line)
    assert leaks[0]["holders"][0].startswith("losses[")


def test_the_remedy_that_the_text_gives_clears_it(root, tmp_path):
    book = nbformat.read(root / "examples" / "02_digits.ipynb", as_version=4)
    cell = cell_with(book, "losses.append(loss)")
    cell.source = cell.source.replace("losses.append(loss)", "losses.append(loss.item())")
    cell.source = cell.source.replace("losses[0].item()", "losses[0]")
    cell.source = cell.source.replace("losses[-1].item()", "losses[-1]")
    status, report = check(root, tmp_path, book)
    assert not [finding for finding in report["findings"] if finding["severity"] != "info"]
    assert report["errors"] == []
