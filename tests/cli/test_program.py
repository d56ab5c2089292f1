"""A file as cells."""

import json

import pytest

from gradviz.cli.program import CannotRun, read


def write(tmp_path, name, content):
    file = tmp_path / name
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        file.write_text(content, encoding="utf-8")
    return file


def notebook(*cells):
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": k, "source": s} for k, s in cells]})


def test_marks_separate_cells_and_lines_count_from_one(tmp_path):
    program = read(
        write(
            tmp_path,
            "a.py",
            "# ---\n# id: 1\n# ---\n# %%\nimport torch\n# %% second\nx = 1\ny = 2\n",
        )
    )
    assert program.cells == ["import torch", "x = 1\ny = 2"]
    assert not program.script


def test_code_before_the_first_mark_is_a_cell_and_markdown_is_not(tmp_path):
    text = "import math\n# %% [markdown]\n# words\n# %%\nx = 1\n"
    assert read(write(tmp_path, "a.py", text)).cells == ["import math\n", "x = 1"]


def test_a_script_is_one_cell_with_its_own_lines(tmp_path):
    program = read(write(tmp_path, "a.py", "\n\nx = 1\n"))
    assert program.cells == ["\n\nx = 1\n"] and program.script


def test_a_notebook_gives_its_code_cells(tmp_path):
    text = notebook(
        ("markdown", "# words"), ("code", ["a = 1\n", "a"]), ("raw", "r"), ("code", "b = 2")
    )
    assert read(write(tmp_path, "a.ipynb", text)).cells == ["a = 1\na", "b = 2"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.ipynb", "{", "not a notebook"),
        ("a.ipynb", "[]", "not a notebook"),
        ("a.ipynb", '{"cells": [1]}', "not a notebook"),
        ("a.ipynb", "[" * 100_000, "not a notebook"),
        ("a.ipynb", '{"cells": [],\n oh', "line 2 is not JSON"),
        ("a.ipynb", '{"cells": [], "metadata": [1]}', "not a notebook"),
        ("a.ipynb", '{"nbformat": 3, "worksheets": []}', "old format 3"),
        ("a.ipynb", '{"metadata": {"language_info": {"name": "julia"}}}', "in julia"),
        ("a.ipynb", "", "no code"),
        ("a.ipynb", notebook(("markdown", "x")), "no code"),
        ("a.ipynb", notebook(("code", "  ")), "no code"),
        ("a.py", "", "no code"),
        ("a.py", "# only words\n", "no code"),
        ("a.py", "# %%\n\n# %%\n", "no code"),
        ("a.py", b"\xff\xfe\x00\x01", "cannot be read"),
        ("a.py", b"# coding: nonsense\n", "cannot be read"),
        ("a.txt", "x", "neither .ipynb nor .py"),
    ],
)
def test_what_cannot_run_says_so_in_one_line(tmp_path, name, content, said):
    with pytest.raises(CannotRun, match=said) as caught:
        read(write(tmp_path, name, content))
    assert "\n" not in str(caught.value)


def test_missing_and_folders(tmp_path):
    with pytest.raises(CannotRun, match="no such file"):
        read(tmp_path / "none.py")
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(CannotRun, match="cannot be read"):
        read(tmp_path / "folder.py")
