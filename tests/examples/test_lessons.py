"""Each lesson: the worked solutions pass every check, what the learner is given and every stated
wrong answer fails its own, in both languages.
"""

import importlib.util
import io
import re
import tokenize
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("jupytext", reason="jupytext is not installed: it comes with the `lab` extra")

from gradviz import distributed, texts

from .lessons import answers, cells_of, play, tried

FOLDER = Path(__file__).resolve().parents[2] / "examples"
SOURCES = {
    file.stem: file
    for file in sorted(FOLDER.glob("[0-9][0-9]_*.py"))
    if "teach.Lesson(" in file.read_text(encoding="utf-8")
}
HAN = re.compile("[\u4e00-\u9fff]")
EACH = pytest.mark.parametrize("name", SOURCES)


@pytest.fixture(autouse=True)
def a_learner(monkeypatch, tmp_path):
    monkeypatch.setenv("GRADVIZ_PROGRESS", str(tmp_path / "progress.json"))
    yield
    texts.set_language(None)
    if distributed.is_initialized():
        distributed.destroy_process_group()


@pytest.fixture
def shells(tmp_path):
    """``shells()``: a fresh shell without a front end."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"

    def begin():
        end()
        return InteractiveShell.instance(config=config, ipython_dir=str(tmp_path))

    def end():
        if InteractiveShell.initialized():
            InteractiveShell.instance().run_cell("%unload_ext gradviz", silent=True)
            InteractiveShell.instance().reset()
            InteractiveShell.clear_instance()

    yield begin
    end()


@EACH
def test_wrong_answers_fail_and_the_worked_solutions_pass(shells, name):
    cells = cells_of(SOURCES[name])
    found = answers(cells)
    solutions = {number: one["solution"][0] for number, one in found.items()}
    for number, one in found.items():
        assert one["wrong"], f"exercise {number} states no wrong answer"
    shell = shells()
    for _, wrong, verdict in tried(shell, cells, solutions, lambda number: found[number]["wrong"]):
        assert verdict.held is False, wrong
    lesson = shell.user_ns["lesson"]
    assert len(found) == lesson.exercises >= 2
    for number in found:
        assert lesson.verdicts[number].held, lesson.verdicts[number]
    assert not HAN.search("".join(map(repr, lesson.verdicts.values())))


@EACH
def test_what_the_learner_is_given_runs_through_and_passes_no_check(shells, name):
    texts.set_language("zh")
    cells = cells_of(SOURCES[name])
    lesson = play(shells(), cells, {})
    for number in answers(cells):
        assert not lesson.verdicts[number].held, f"exercise {number} needs nothing to be done"
    assert any(verdict.held is None for verdict in lesson.verdicts.values()), "no prediction"
    assert all(HAN.search(verdict.text) for verdict in lesson.verdicts.values())


@EACH
def test_a_lesson_has_its_parts(name):
    cells = cells_of(SOURCES[name])
    texts_of = {
        lang: "\n".join(c.source for c in cells if c.metadata.get("lang") == lang)
        for lang in texts.LANGUAGES
    }
    assert "**Question.**" in texts_of["en"] and "**问题**" in texts_of["zh"]
    assert "repair" in texts_of["en"] and "修复" in texts_of["zh"]
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert "lesson.compare(" in code
    assert re.search(r"gradviz\.[A-Zse]\w+\(|%gradviz", code), "no picture"


@EACH
def test_no_sentence_stands_in_one_language_only(name):
    """Code goes into both notebooks: no comments in it; and Chinese text is Chinese."""
    for cell in cells_of(SOURCES[name]):
        if cell.cell_type == "code":
            code = re.sub(r"^%.*$", "", cell.source, flags=re.M)
            tokens = tokenize.generate_tokens(io.StringIO(code).readline)
            assert not [t.string for t in tokens if t.type == tokenize.COMMENT], cell.source
        elif cell.metadata["lang"] == "zh":
            assert HAN.search(cell.source), cell.source


def test_every_part_of_the_subject_is_met_by_a_lesson():
    table = tomllib.loads(Path(__file__).with_name("covered.toml").read_text(encoding="utf-8"))
    for part, rows in table.items():
        for row, (number, word) in rows.items():
            books = "".join(SOURCES[n].read_text("utf-8") for n in SOURCES if n[:2] == number)
            assert word in books, f"{part}: {row} is not in lesson {number} any more"


def test_the_notebooks_do_not_show_the_answers():
    spec = importlib.util.spec_from_file_location("build", FOLDER / "build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    for source in SOURCES.values():
        for lang in texts.LANGUAGES:
            book = build.notebook(source, lang)
            for number, one in answers(cells_of(source)).items():
                code = [cell.source for cell in book.cells if cell.cell_type == "code"]
                assert one["exercise"][0] in code, number
                assert not set(code) & {*one["wrong"], *one["solution"]}, number
