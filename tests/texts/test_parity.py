"""No untranslated text anywhere a person sees: Python, the page, the documentation, the lessons."""

import ast
import json
import re

import pytest

from gradviz.texts import catalogue

ROOMS = "cli notebook ask widgets export doctor teach sources watch".split()
SENTENCE = re.compile(r"[A-Za-z]{2,} +[a-z]{2,} +[a-z]{2,}")
STYLE = re.compile(r"[a-z-]+:[^ ]")  # a piece of a style sheet
HAN = re.compile("[\u3400-\u9fff]")
LOGS = {"warning", "error", "debug", "info", "exception", "log"}  # for whoever mends gradviz
RECOGNISE = {"with_message", "simple", "AssertionError"}  # PyTorch's phrases; what cannot happen
# Python's own words for what is not there.
NOT_OURS = {"No module named "}
# For whoever works on gradviz, and changed by every change: in English only.
ENGLISH_ONLY = {"CHANGELOG.md", "CONTRIBUTING.md"}


def is_table(statement):
    """``PHRASE = …``, at the top of a module or of a class."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    return isinstance(statement, ast.Assign | ast.AnnAssign) and any(
        isinstance(target, ast.Name) and target.id.isupper() for target in targets
    )


def said(tree):
    """The sentences in the code that stand neither in a docstring, nor in a table of words at the
    top (phrases of PyTorch to recognise, style sheets), nor in a log.
    """
    silent = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module):
            tables = [s for s in ast.walk(node) if is_table(s)]
            silent |= {id(constant) for table in tables for constant in ast.walk(table)}
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            silent.add(id(node.value))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in LOGS:
            silent |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RECOGNISE:
            silent |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        text = getattr(node, "value", None)
        if isinstance(node, ast.Constant) and isinstance(text, str) and id(node) not in silent:
            if SENTENCE.search(text) and not STYLE.search(text) and text not in NOT_OURS:
                yield node.lineno, text


@pytest.mark.parametrize("room", ROOMS)
def test_python_says_nothing_that_is_not_in_the_catalogue(root, room):
    found = [
        f"{file.relative_to(root)}:{line}: {text}"
        for file in sorted((root / "gradviz" / room).rglob("*.py"))
        for line, text in said(ast.parse(file.read_text(encoding="utf-8")))
        if "(unreachable" not in text  # told by words.held_by and, on the page, by `reachable`
    ]
    assert found == []


ENGLISH = re.compile(r"[a-z]{2,} (of|the|in|to|by|at|and|each|all|through) ")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
SHOWN = re.compile(r'(?:textContent|title|placeholder|"aria-label")\]?\s*[=:]\s*"[A-Za-z]')


def test_the_page_says_nothing_that_is_not_in_the_catalogue(root):
    found = []
    for file in sorted((root / "js" / "src").rglob("*.ts")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if file.name == "style.ts" or line.lstrip().startswith(("//", "*", "/*")):
                continue
            code = line.partition(" // ")[0]
            words = [s for s in STRING.findall(code) if SENTENCE.search(s) and not STYLE.search(s)]
            if SHOWN.search(code) or (words and "Error(" not in code and "console." not in code):
                found.append(f"{file.relative_to(root)}:{number}: {line.strip()}")
    assert found == []


def documents(root):
    folders = (root.glob("*.md"), root.glob("docs/*.md"), root.glob("examples/*.md"))
    found = [file for folder in folders for file in folder if file.name not in ENGLISH_ONLY]
    return [file for file in found if not file.name.endswith(".zh.md")]


def prose(text):
    """What is neither code nor a link's target nor a comment, paragraph by paragraph."""
    text = re.sub(r"^```.*?^```$|<!--.*?-->|<details>.*?</details>", "", text, flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`|\]\([^)]*\)|<[^>]+>|https?://\S+", "", text)
    return [part for part in re.split(r"\n\s*\n|\|", text) if part.strip()]


def english_only(text):
    """Paragraphs of several English words without a Chinese one."""
    return [p.strip() for p in prose(text) if len(SENTENCE.findall(p)) and not HAN.search(p)]


def test_every_document_has_its_twin_and_they_lead_to_each_other(root):
    for file in documents(root):
        twin = file.with_name(file.stem + ".zh.md")
        assert twin.is_file(), f"{file.name} has no Chinese twin"
        assert f"]({twin.name})" in file.read_text(encoding="utf-8"), file.name
        assert f"]({file.name})" in twin.read_text(encoding="utf-8"), twin.name


def shape(text):
    """Headings, rows of tables and blocks of code, which twins share."""
    blocks = len(re.findall(r"^```", text, re.M))
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    heads = [len(found) for found in re.findall(r"^(#+) ", text, re.M)]
    return heads, len(re.findall(r"^\|", text, re.M)), blocks


def test_twins_have_the_same_headings_tables_and_code(root):
    for file in documents(root):
        twin = file.with_name(file.stem + ".zh.md")
        english, chinese = (shape(one.read_text(encoding="utf-8")) for one in (file, twin))
        assert english == chinese, file.name


def test_chinese_documents_are_chinese(root):
    found = {}
    for file in documents(root):
        twin = file.with_name(file.stem + ".zh.md")
        found[twin.name] = english_only(twin.read_text(encoding="utf-8"))
    assert {name: parts for name, parts in found.items() if parts} == {}


def lessons(root):
    return sorted(f for f in root.glob("examples/*.ipynb") if not f.name.endswith(".zh.ipynb"))


def test_every_lesson_has_its_twin_with_the_same_cells(root):
    for file in lessons(root):
        twin = file.with_name(f"{file.stem}.zh.ipynb")
        english, chinese = (
            json.loads(f.read_text(encoding="utf-8"))["cells"] for f in (file, twin)
        )
        assert [c["cell_type"] for c in english] == [c["cell_type"] for c in chinese], file.name
        for cell in chinese:
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                assert english_only(text) == [], f"{twin.name}: {text[:80]}"


def test_the_words_of_formulas_are_told_in_chinese(root):
    """What the inspector shows in Chinese has no sentence in English left in it."""
    import gradviz
    import gradviz.distributions
    import gradviz.nn  # noqa: F401 (declares the operations of the layers)

    gradviz.cat([gradviz.ones(1)] * 2)
    gradviz.block_diag(gradviz.ones(1, 1), gradviz.ones(1, 1))
    from gradviz.engine.operation import TENSOR
    from gradviz.texts.formulas import told

    english, chinese = (catalogue("formulas", lang)["words"].split("\n") for lang in ("en", "zh"))
    assert len(english) == len(chinese) and all(map(HAN.search, chinese))
    formulas = {
        getattr(getattr(function, "op", None), "formula", "") for function in vars(TENSOR).values()
    }
    left = {
        said
        for said in (told(formula)["zh"] for formula in formulas - {""})
        if re.search(r"[a-z]{2,} (of|the|in|to|by|at|and|each|all) ", said)
    }
    assert left == set()
    assert told("") == {}
    assert told("2 where self > 0, 0.1 · 2 elsewhere") == {
        "en": "2 where self > 0, 0.1 · 2 elsewhere",
        "zh": "2，当 self > 0, 0.1 · 2（其余）",
    }
