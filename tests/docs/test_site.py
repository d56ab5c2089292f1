"""The site: the same pages in both languages, every link leads somewhere. (`python docs/publish.py`
builds it; that is a step of .ci/run.)
"""

import re
import sys

import pytest

FENCE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


@pytest.fixture(scope="module")
def website(root):
    """docs/ on the path, as when docs/publish.py runs."""
    sys.path.insert(0, str(root / "docs"))
    from website import links, sources, tree

    yield {"links": links, "sources": sources, "tree": tree}
    sys.path.remove(str(root / "docs"))


@pytest.fixture(scope="module")
def pages(website):
    return {lang: website["sources"].pages(lang) for lang in ("en", "zh")}


def test_both_languages_have_the_same_pages(pages):
    assert list(pages["en"]) == list(pages["zh"])


def test_every_page_has_one_title(pages):
    for lang, found in pages.items():
        for page, parts in found.items():
            text = re.sub(r"^```.*?^```$", "", parts[0][1], flags=re.M | re.S)
            assert len(re.findall(r"^# ", text, re.M)) == 1, (lang, page)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_no_page_is_in_the_repository(website, root, tmp_path, lang):
    website["tree"].Tree(lang, tmp_path).write()
    assert (tmp_path / "howto.md").is_file() and list((tmp_path / "pictures").iterdir())
    outside = re.escape(website["tree"].REPOSITORY)
    for file in tmp_path.rglob("*.md"):
        for path in re.findall(outside + r"([^)#\s\"]+)", file.read_text(encoding="utf-8")):
            assert (root / path).exists(), f"{file.name} -> {path}"


def test_the_check_of_links_finds_what_is_wrong(website, tmp_path):
    (tmp_path / "a.html").write_text(
        '<h2 id="x"></h2><a href="b.html#y"><a href="b.html#z"><a href="gone.html"><a href="#x">'
        '<img src="https://elsewhere/a.png"><a href="https://elsewhere">',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<p id="y">', encoding="utf-8")
    assert website["links"].check(tmp_path) == [
        "a.html -> b.html#z",
        "a.html -> gone.html",
        "a.html fetches https://elsewhere/a.png",
    ]


@pytest.mark.parametrize("name", ["howto.md", "howto.zh.md"])
def test_what_the_howtos_say_runs(root, tmp_path, monkeypatch, name):
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    monkeypatch.chdir(tmp_path)
    for module in [m for m in sys.modules if m.split(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, module)
    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=config, ipython_dir=str(tmp_path))
    cells = FENCE.findall((root / "docs" / name).read_text(encoding="utf-8"))
    try:
        for cell in cells:
            cell = cell.replace("with gradviz.watching():", "if True:")  # this shell watches
            cell = cell.replace("@pytest.mark.gradviz_no_leaks\n", "")  # has tests of its own
            result = shell.run_cell(cell, store_history=True)
            assert result.success, cell
        assert len(cells) > 12 and (tmp_path / "graph.html").is_file()
        shell.user_ns["test_a_step_leaves_no_graph"]()
    finally:
        shell.run_cell("%gradviz torch off\n%unload_ext gradviz", silent=True)
        shell.reset()
        InteractiveShell.clear_instance()
        from gradviz import texts

        texts.set_language(None)


def test_both_howtos_have_the_same_code(root):
    english, chinese = (
        [
            re.sub(r"#.*", "", cell)
            for cell in FENCE.findall((root / "docs" / name).read_text("utf-8"))
        ]
        for name in ("howto.md", "howto.zh.md")
    )
    assert english == chinese
