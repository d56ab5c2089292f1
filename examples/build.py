"""Makes the English and the Chinese notebook of each example from its one source.

    python examples/build.py            write NAME.ipynb, NAME.zh.ipynb and the list README.md
    python examples/build.py --check    exit with 1 if a committed notebook differs from its source

A source is a py:percent file. Code cells go into both notebooks, a markdown cell into that of its
``lang``. Of the cells that belong to an exercise, ``exercise=1`` is what the learner changes,
``solution=1`` is folded away below it, and ``wrong=1``, an answer that must not pass, is for the
tests only.
"""

import argparse
import re
import sys
from pathlib import Path

import jupytext
import nbformat

FOLDER = Path(__file__).parent
SUFFIXES = {"en": ".ipynb", "zh": ".zh.ipynb"}
HAN = "[\u3000-\u9fff\uff00-\uffef]"
READMES = {"en": "README.md", "zh": "README.zh.md"}
LIST = {
    "en": """# Lessons

**English** · [中文](README.zh.md)

Each is a notebook: a question, a prediction to make, a picture that answers it, exercises that are
checked on the spot by their graph and gradients, and a broken program to repair. `gradviz lab`
opens them. What you have done is kept in `gradviz-progress.json` beside them (`GRADVIZ_PROGRESS`
names another file); `gradviz.teach.progress()` tells it.

| lesson | question |
|---|---|
""",
    "zh": """# 课程

[English](README.md) · **中文**

每一课是一个笔记本：一个问题、一次预测、一幅给出答案的图、几道当场批改的练习
（检查的是计算图和梯度，而不是文字），以及一个等待修复的错误程序。用 `gradviz lab` 打开。

学习进度保存在旁边的 `gradviz-progress.json` 中（可用 `GRADVIZ_PROGRESS` 指定别的文件）；
`gradviz.teach.progress()` 可以查看。

| 课程 | 问题 |
|---|---|
""",
}
NEXT = {"en": "Next: [{title}]({file}) · ", "zh": "下一课：[{title}]({file}) · "}
ALL = {"en": "[All lessons](README.md)", "zh": "[全部课程](README.zh.md)"}
QUESTION = re.compile(r"^\*\*(?:Question\.|问题)\*\*：?\s*(.+?)(?:\n\n|\Z)", re.M | re.S)
SOLUTION = {"en": "A solution", "zh": "参考答案"}
WRAPPED_HAN = re.compile(f"(?<={HAN})\n *(?={HAN})")


def sources():
    """The files the notebooks are made from, in order."""
    return sorted(FOLDER.glob("[0-9][0-9]_*.py"))


def notebook(source, lang):
    """The notebook of ``source`` in one language, without outputs, always the same bytes."""
    book = jupytext.read(source, fmt="py:percent")
    book.cells = [released(spoken(cell, lang), lang) for cell in book.cells if belongs(cell, lang)]
    book.cells.append(nbformat.v4.new_markdown_cell(onward(source, lang)))
    for number, cell in enumerate(book.cells, start=1):
        cell.id = f"cell-{number:02d}"
        if cell.cell_type == "markdown":  # a line break between Chinese letters would show as a gap
            cell.source = WRAPPED_HAN.sub("", cell.source)
    book.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    book.nbformat, book.nbformat_minor = 4, 5
    return book


LOADED = {"en": "%load_ext gradviz", "zh": "%load_ext gradviz\n%gradviz lang zh"}


def spoken(cell, lang):
    """A cell that loads the extension also says which language is to be spoken."""
    cell.source = cell.source.replace(LOADED["en"], LOADED[lang], cell.cell_type == "code")
    return cell


def belongs(cell, lang):
    """Whether a cell goes into the notebook of a language."""
    return cell.metadata.pop("lang", lang) == lang and "wrong" not in cell.metadata


def released(cell, lang):
    """A cell as the learner gets it: a solution is folded away."""
    kind = next((kind for kind in ("exercise", "solution") if kind in cell.metadata), None)
    if kind is None:
        return cell
    text, tagged = cell.source, {"tags": [kind]}
    if kind == "exercise":
        return nbformat.v4.new_code_cell(text, metadata=tagged)
    text = f"<details><summary>{SOLUTION[lang]}</summary>\n\n```python\n{text}\n```\n\n</details>"
    return nbformat.v4.new_markdown_cell(text, metadata=tagged)


def prose(source, lang):
    """The text of ``source`` in one language, as it will be shown."""
    cells = jupytext.read(source, fmt="py:percent").cells
    chosen = (cell.source for cell in cells if cell.metadata.get("lang") == lang)
    return "\n\n".join(WRAPPED_HAN.sub("", text) for text in chosen)


def title(source, lang):
    """The first heading."""
    return prose(source, lang).partition("\n")[0].removeprefix("# ")


def onward(source, lang):
    """A line that leads to the next lesson and to the list of all."""
    later = [one for one in sources() if one.name > source.name][:1]
    to = (NEXT[lang].format(title=title(s, lang), file=s.stem + SUFFIXES[lang]) for s in later)
    return "".join(to) + ALL[lang]


def readme(lang):
    """The list of all lessons."""
    rows = []
    for source in sources():
        asked = QUESTION.search(prose(source, lang))
        question = " ".join(asked.group(1).split("\n")) if asked else ""
        link = f"[{source.stem[:2]} {title(source, lang)}]({source.stem}{SUFFIXES[lang]})"
        rows.append(f"| {link} | {question} |\n")
    return WRAPPED_HAN.sub("", LIST[lang]) + "".join(rows)


def built():
    """Each target file with the text it should hold."""
    for lang, name in READMES.items():
        yield FOLDER / name, readme(lang)
    for source in sources():
        for lang, suffix in SUFFIXES.items():
            text = nbformat.writes(notebook(source, lang))
            yield source.with_name(source.stem + suffix), text.rstrip("\n") + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(arguments).check
    stale = [
        (file, text)
        for file, text in built()
        if not file.is_file() or file.read_text(encoding="utf-8") != text
    ]
    for file, text in stale:
        print(f"{'differs' if check else 'written'}: {file.name}")
        if not check:
            file.write_text(text, encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
