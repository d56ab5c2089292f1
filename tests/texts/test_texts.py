"""The catalogue: every sentence exists in both languages and asks for the same fields."""

import string
import subprocess
import sys
from pathlib import Path

import pytest

from gradviz import texts

FOLDER = Path(texts.__file__).parent


def placeholders(template):
    """Its fields; a word that only goes with a number is the language's own affair."""
    found = string.Formatter().parse(template)
    return sorted((name, spec) for _, name, spec, _ in found if name and "|" not in spec)


@pytest.fixture(autouse=True)
def no_choice(monkeypatch):
    for name in ("GRADVIZ_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    yield
    texts.set_language(None)


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """A catalogue of two sentences, so that these tests do not depend on wording."""
    for lang, hello in {"en": "Hello, {name}.", "zh": "你好，{name}。"}.items():
        (tmp_path / lang).mkdir()
        content = f'hello = "{hello}"\n[deep.er]\nsize = "{{bytes:,}} B"\n'
        (tmp_path / lang / "sample.toml").write_text(content, encoding="utf-8")
    monkeypatch.setattr(texts, "files", lambda name: tmp_path)
    texts._read.cache_clear()
    yield
    texts._read.cache_clear()


def test_both_languages_have_the_same_files():
    names = [sorted(file.name for file in (FOLDER / lang).iterdir()) for lang in texts.LANGUAGES]
    assert names[0] == names[1] and names[0]


@pytest.mark.parametrize("section", texts.sections())
def test_a_section_is_complete_in_both_languages(section):
    english, chinese = (texts.catalogue(section, lang) for lang in texts.LANGUAGES)
    assert sorted(english) == sorted(chinese)
    for name in english:
        for template in (english[name], chinese[name]):
            assert isinstance(template, str) and template.strip(), f"{section}.{name} is empty"
        assert placeholders(english[name]) == placeholders(chinese[name]), f"{section}.{name}"


@pytest.mark.parametrize("section", texts.sections())
def test_templates_name_their_fields_plainly(section):
    for lang in texts.LANGUAGES:
        for name, template in texts.catalogue(section, lang).items():
            for field, _ in placeholders(template):
                assert field.isidentifier(), f"{section}.{name} in {lang} uses {{{field}}}"


@pytest.mark.parametrize("section", texts.sections())
def test_chinese_is_chinese(section):
    """A sentence of several words that holds no Han character was forgotten, not translated."""
    for name, template in texts.catalogue(section, "zh").items():
        words = [word for word in template.split() if word.isalpha() and word.isascii()]
        if len(words) >= 5:
            assert any("\u4e00" <= letter <= "\u9fff" for letter in template), f"{section}.{name}"


def test_text_follows_the_language(sample):
    assert texts.text("sample.hello", name="Ada") == "Hello, Ada."
    assert texts.text("sample.hello", "zh", name="Ada") == "你好，Ada。"
    texts.set_language("zh")
    assert texts.text("sample.hello", name="Ada") == "你好，Ada。"
    assert texts.text("sample.deep.er.size", "en", bytes=12345) == "12,345 B"
    assert texts.both("sample.hello", name="Ada") == {"en": "Hello, Ada.", "zh": "你好，Ada。"}


def test_fields_are_data(sample):
    hostile = "{name.__class__} <b>{0}</b>"
    assert texts.text("sample.hello", name=hostile) == f"Hello, {hostile}."


def test_a_template_cannot_reach_into_a_field():
    with pytest.raises(KeyError, match="needs a field 'name.__class__'"):
        texts._FORMATTER.vformat("{name.__class__}", (), {"name": 1})


def test_a_missing_field_key_or_section_raises_key_error(sample):
    with pytest.raises(KeyError, match="needs a field 'name'"):
        texts.text("sample.hello")
    with pytest.raises(KeyError, match="no text 'sample.nothing'"):
        texts.text("sample.nothing")
    with pytest.raises(KeyError, match="no texts 'nowhere'"):
        texts.text("nowhere.hello")
    with pytest.raises(KeyError, match="no texts"):
        texts.catalogue("../en/sample")


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "GRADVIZ_LANG": "en"}, "en"),
        ({"GRADVIZ_LANG": "zh-Hans"}, "zh"),
    ],
)
def test_language_comes_from_the_environment(monkeypatch, environment, wanted):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert texts.language() == wanted


def test_set_language_wins_and_refuses_unknown_languages(monkeypatch):
    monkeypatch.setenv("GRADVIZ_LANG", "zh")
    texts.set_language("en")
    assert texts.language() == "en"
    with pytest.raises(ValueError, match="en, zh"):
        texts.set_language("fr")
    texts.set_language(None)
    assert texts.language() == "zh"


def test_the_catalogue_imports_nothing_of_ours():
    code = (
        "import sys, importlib.util as u\n"
        f"s = u.spec_from_file_location('alone', {str(FOLDER / '__init__.py')!r},"
        f" submodule_search_locations=[{str(FOLDER)!r}])\n"
        "m = u.module_from_spec(s); sys.modules['alone'] = m; s.loader.exec_module(m)\n"
        "print([n for n in sys.modules if n.split('.')[0] == 'gradviz'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("count", "said"), [(0, "nodes"), (1, "node"), ("1", "node")])
def test_a_word_goes_with_its_number(count, said):
    found = texts.text("notebook.holds", "en", nodes=count, bytes="1 B")
    assert found == f"{count} {said}, 1 B"


@pytest.mark.parametrize(
    ("environment", "page", "wanted"),
    [
        ({"LANG": "en_US.UTF-8"}, "zh", "zh"),
        ({"GRADVIZ_LANG": "en"}, "zh", "en"),
        ({}, "fr", "en"),
        ({}, 7, "en"),
    ],
)
def test_the_page_is_followed_unless_a_language_was_chosen(monkeypatch, environment, page, wanted):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    texts.follow_page(page)
    assert texts.language() == wanted
    texts.set_language("en")
    assert texts.language() == "en" == texts.chosen()
