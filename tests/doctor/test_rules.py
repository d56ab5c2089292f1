"""Each rule: an identifier of its own, a kind, texts in both languages with the same fields."""

import inspect
import string
import sys

from gradviz.doctor import all_rules
from gradviz.texts import LANGUAGES, catalogue

EXTRA = {"kept.all", "kept.operations", "store.number", "store.tensor"}
EXTRA |= {"freed.by.unknown", "freed.by.cell", "freed.by.file"}
PARTS = ("title", "when", "why", "message", "fix")


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_identifiers_are_unique_and_severities_known():
    rules = all_rules()
    assert len({rule.identifier for rule in rules}) == len(rules) >= 50
    assert {rule.severity for rule in rules} <= {"error", "warning", "info"}


def test_texts_are_complete_in_both_languages():
    for lang in LANGUAGES:
        texts = catalogue("findings", lang)
        wanted = {f"{rule.identifier}.{part}" for rule in all_rules() for part in PARTS}
        variants = {key for key in texts if key.startswith("GV") and key.count(".") == 2}
        assert set(texts) - variants == wanted | EXTRA
        assert all(texts.values())


def test_a_variant_has_a_message_and_a_fix_and_its_rule_uses_it():
    sources = {r.identifier: inspect.getsource(sys.modules[r.look.__module__]) for r in all_rules()}
    found = {}
    for key in catalogue("findings"):
        identifier, _, rest = key.partition(".")
        variant, _, part = rest.rpartition(".")
        if variant and identifier in sources:
            found.setdefault((identifier, variant), set()).add(part)
    assert found and all(parts == {"message", "fix"} for parts in found.values())
    assert [key for key in found if f'"{key[1]}"' not in sources[key[0]]] == []


def test_languages_use_the_same_fields():
    english, chinese = catalogue("findings", "en"), catalogue("findings", "zh")
    for key, text in english.items():
        assert fields(text) == fields(chinese[key]), key


def test_files_are_named_after_their_family():
    for rule in all_rules():
        module = rule.look.__module__.split(".")
        assert module[-2] == rule.kind.split(".")[0]
