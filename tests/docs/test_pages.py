"""The pages that are made from the code are up to date and whole."""

import os
import subprocess
import sys

import pytest

from gradviz.doctor.examine import all_rules

QUIET = {"capture_output": True, "text": True}


def test_the_pages_are_up_to_date(root):
    command = [sys.executable, str(root / "docs" / "build.py"), "--check"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(root)}, **QUIET)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}run `python docs/build.py`"


@pytest.mark.parametrize("name", ["operations.md", "operations.zh.md"])
def test_the_table_of_operations_has_names_derivatives_and_what_is_saved(root, name):
    page = (root / "docs" / name).read_text(encoding="utf-8")
    assert "| `exp` | `ExpBackward0` | g · result |" in page
    assert "| `mul` | `MulBackward0` | ∂self: g · other<br>∂other: g · self | self, other |" in page


@pytest.mark.parametrize("name", ["findings.md", "findings.zh.md"])
def test_every_rule_has_its_entry(root, name):
    page = (root / "docs" / name).read_text(encoding="utf-8")
    assert [rule.identifier for rule in all_rules() if f"## {rule.identifier}: " not in page] == []
