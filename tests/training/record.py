"""Write the loss curves of PyTorch to recorded.json: ``python -m tests.training.record``."""

import json
from pathlib import Path

from tests.training import runs

RECORDED = Path(__file__).with_name("recorded.json")
CURVES = {"characters": 200, "memory": 100}

if __name__ == "__main__":
    curves = {name: getattr(runs, name)("torch", steps) for name, steps in CURVES.items()}
    curves["adversaries"] = runs.adversaries("torch", 40)[0]
    lines = (f"{json.dumps(k)}: {json.dumps([round(x, 7) for x in v])}" for k, v in curves.items())
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
