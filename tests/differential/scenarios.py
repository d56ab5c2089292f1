"""Small programs on one subject each, kept in ``tests/autograd/scenarios/*.txt`` and split at ``#
=== title``.

Run by hand it compares gradviz with PyTorch, or with ``--record`` writes what PyTorch does beside
them, so that the
same programs are checked on machines without PyTorch.
"""

import json
import pathlib
import sys

from . import observe as seen

FOLDER = pathlib.Path(__file__).parents[1] / "autograd" / "scenarios"
RECORDED = FOLDER / "recorded.json"


def scenarios():
    """(file and title, statements) of every scenario."""
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text().split("# === ")[1:]:
            title, _, text = part.partition("\n")
            yield f"{path.stem}: {title}", statements(text)


def statements(text):
    """The statements of a text, each as text; continued lines stay with their first one."""
    out = []
    for line in text.splitlines():
        if (
            line
            and out
            and (
                line[0] in " )]}"
                or out[-1].rstrip().endswith(("\\", "("))
                or out[-1].startswith("@")
                and "\ndef" not in out[-1]
                and "\nclass" not in out[-1]
            )
        ):
            out[-1] += "\n" + line
        elif line:
            out.append(line)
    return out


def strict(observation):
    """As JSON gives it back: so that recorded and fresh observations compare."""
    return json.loads(json.dumps(observation))


def seen_on(engine, text):
    """What a scenario does, as JSON has it; graphs of gradients are not part of it."""
    return strict(
        seen.observe(engine, text, with_graph=not any("create_graph" in line for line in text))
    )


def compare(torch, engine):
    """Differences of all scenarios."""
    both = ((title, seen_on(torch, text), seen_on(engine, text)) for title, text in scenarios())
    return {title: found for title, a, b in both if (found := seen.differences(a, b))}


def main(arguments):
    import torch

    if "--record" in arguments:
        told = {title: seen_on(torch, text) for title, text in scenarios()}
        RECORDED.write_text(json.dumps(told, separators=(",", ":")).replace('},"', '},\n"') + "\n")
        return 0
    import gradviz

    found = compare(torch, gradviz)
    wanted = [a for a in arguments if not a.startswith("-")]
    for title, lines in found.items():
        if not wanted or title.startswith(tuple(wanted)):
            print(f"--- {title}", *lines[:8], sep="\n")
    print(f"{len(list(scenarios()))} scenarios, {len(found)} differ")
    return len(found)


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1:]), 99))
