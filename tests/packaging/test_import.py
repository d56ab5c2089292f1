"""``import gradviz`` is light: NumPy and nothing heavier."""

import subprocess
import sys

HEAVY = (
    "scipy IPython anywidget ipywidgets traitlets ml_dtypes graphviz sklearn torch tqdm asyncio "
    "pathlib urllib.parse ipaddress tomllib importlib.metadata"
)
OURS = "notebook widgets export doctor sources watch cli"


def loaded_by(statement, cwd):
    code = f"import sys\n{statement}\nprint(*sorted(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing_heavy(root):
    modules = loaded_by("import gradviz", root)
    assert "numpy" in modules
    assert not modules & set(HEAVY.split())
    assert not modules & {f"gradviz.{name}" for name in OURS.split()}


def test_computing_loads_nothing_heavy(root):
    lines = (
        "import gradviz as torch",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)",
        "(x * x).sum().backward()",
    )
    assert not loaded_by("\n".join(lines), root) & set(HEAVY.split())


def test_functions_look_at_their_arguments_only_for_who_needs_it(root):
    lines = (
        "import gradviz as torch",
        "from gradviz import nn, optim, autograd",
        "import gradviz.utils.data, gradviz.utils.checkpoint, gradviz.utils._pytree",
        "x = torch.ones(2, dtype=torch.float64, requires_grad=True)",
        "autograd.gradcheck(torch.sin, x)",
        "nn.Linear(2, 2).double()(x).sum().backward()",
    )
    assert "gradviz.overrides" not in loaded_by("\n".join(lines), root)
    assert "gradviz.overrides" in loaded_by("import gradviz\ngradviz.vmap(gradviz.sin)", root)
