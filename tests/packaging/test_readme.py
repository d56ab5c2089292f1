"""What README and its neighbours say can be done, can be done."""

import re
import shlex
import subprocess
import sys

import pytest

MARK = re.compile(r"<!-- command: (\w+) -->\n```(\w+)\n(.*?)\n```", re.S)
READMES = ("README.md", "README.zh.md")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|src=\"([^\"]+)\"")


def commands(root, name):
    """``{mark: command}`` of one README."""
    found = MARK.findall((root / name).read_text(encoding="utf-8"))
    return {mark: command for mark, _, command in found}


def documents(root):
    folders = (root.glob("*.md"), root.glob("docs/**/*.md"), root.glob("examples/**/*.md"))
    return [file for folder in folders for file in folder]


def test_both_readmes_give_the_same_commands(root):
    english, chinese = (commands(root, name) for name in READMES)
    assert english == chinese
    assert {"demo", "demo_windows", "tests"} <= set(english)


@pytest.mark.parametrize("mark", ["demo", "tests"])
def test_a_command_is_one_line_that_starts_from_nothing(root, mark):
    command = commands(root, "README.md")[mark]
    assert "\n" not in command
    steps = [shlex.split(step) for step in command.split("&&")]
    assert steps[0] == ["python3", "-m", "venv", ".venv"]
    assert steps[1][:4] == [".venv/bin/python", "-m", "pip", "install"]


def test_the_commands_name_what_there_is(root):
    found = commands(root, "README.md")
    assert ".[lab]" in found["demo"] and found["demo"].endswith(".venv/bin/gradviz demo")
    assert ".[test]" in found["tests"] and found["tests"].endswith(".venv/bin/python -m pytest")
    assert ".[lab]" in found["demo_windows"]


def test_ci_runs_the_test_command_of_the_readme(root):
    """.ci/run takes the command from README.md: run its own reader and compare."""
    script = (root / ".ci" / "run").read_text(encoding="utf-8")
    reader = re.search(r"^readme_command\(\) \{.*?^\}", script, re.M | re.S).group()
    done = subprocess.run(
        ["bash", "-c", f"{reader}\nreadme_command tests"], cwd=root, capture_output=True, text=True
    )
    assert done.stdout.strip() == commands(root, "README.md")["tests"]
    assert script.rstrip().endswith('eval "$tests"')


@pytest.mark.parametrize("script", [".ci/run", "binder/postBuild"])
def test_shell_scripts_parse(root, script):
    file = root / script
    assert file.stat().st_mode & 0o111, f"{script} is not executable"
    done = subprocess.run(["bash", "-n", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_links_lead_somewhere(root):
    dead = []
    for file in documents(root):
        for groups in LINK.findall(file.read_text(encoding="utf-8")):
            target = next(filter(None, groups))
            if "://" not in target and not (file.parent / target).exists():
                dead.append(f"{file.relative_to(root)} -> {target}")
    assert not dead


def test_no_text_sends_people_to_the_unrelated_package(root):
    """The name `gradviz` on the package index belongs to someone else's package."""
    bad = re.compile(r"pip3? install (?:-\S+ )*gradviz(?![-_]notebook)")
    files = documents(root) + [
        file
        for pattern in ("gradviz/**/*.py", "gradviz/**/*.toml", "js/src/**/*", "examples/*.*")
        for file in root.glob(pattern)
        if file.is_file()
    ]
    assert not [str(f) for f in files if bad.search(f.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("command", ["demo", "lab", "check"])
def test_the_command_line_has_what_the_readme_names(root, command):
    run = [sys.executable, "-m", "gradviz.cli.main", command, "--help"]
    done = subprocess.run(run, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
