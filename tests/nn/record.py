"""Write what PyTorch gives for programs to recorded.json: ``python -m tests.nn.record`` for new
ones, with ``--all`` for every one.
"""

import json
import sys

from tests.amp import programs as precision
from tests.nn import programs as layers
from tests.nn.both import RECORDED, run
from tests.optim import programs as optimizers
from tests.utils import programs as loaders


def record(programs, path):
    """Run the programs on PyTorch; a program that fails is named."""
    known = {} if "--all" in sys.argv else json.loads(path.read_text(encoding="utf-8"))
    lines = []
    for name, code in programs.items():
        try:
            found = known[name] if name in known else run("torch", code)
            lines.append(f"{json.dumps(name)}: {json.dumps(found)}")
        except Exception as error:  # noqa: BLE001
            print(f"{name}: {type(error).__name__}: {error}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record(layers.PROGRAMS, RECORDED)
    record(optimizers.PROGRAMS, RECORDED.parents[1] / "optim" / "recorded.json")
    record(precision.PROGRAMS, RECORDED.parents[1] / "amp" / "recorded.json")
    record(loaders.PROGRAMS, RECORDED.parents[1] / "utils" / "recorded.json")
