"""What a release needs beside the code agrees with it."""

import re

import pytest

import gradviz

yaml = pytest.importorskip("yaml", reason="pyyaml comes with the `test` extra")


def read(file):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere_and_semantic(root):
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", gradviz.__version__)
    citation = read(root / "docs" / "CITATION.cff")
    assert (citation["version"], citation["license"]) == (gradviz.__version__, "MIT")


def test_the_changelog_begins_with_what_is_not_released_yet(root):
    heads = re.findall(r"^## \[(.+?)\]", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert heads[0] == "Unreleased"


def test_workflows_run_what_ci_runs(root):
    for file in (root / ".github" / "workflows").glob("*.yml"):
        steps = [step for job in read(file)["jobs"].values() for step in job["steps"]]
        assert any(step.get("run") == "bash .ci/run" for step in steps), file.name


def test_issue_templates_ask_in_both_languages(root):
    files = list((root / ".github" / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))
    assert files
    for file in files:
        form = read(file)
        asked = [field["attributes"]["label"] for field in form["body"]]
        for said in (form["name"], form["description"], *asked):
            assert " · " in said and re.search("[\u4e00-\u9fff]", said), f"{file.name}: {said}"
