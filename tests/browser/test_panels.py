"""Every panel in a real JupyterLab: alone, beside others, linked; accessible by axe's rules."""

import pytest

from tests.browser.axe import needs_axe, violations
from tests.browser.test_view import LEAK, LOAD, SCREENSHOTS, View

SETUP = (
    LOAD
    + """
import ipywidgets
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data, target = torch.randn(16, 4), torch.randn(16, 1)
flow, ledger = gradviz.GradFlow(model, optimizer), gradviz.MemoryLedger()
def step():
    optimizer.zero_grad()
    loss = ((model(data) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
    return {"loss": loss}
with ledger.measure(model, optimizer):
    step()
handle = model[0].weight.register_hook(lambda grad: None)
bench, cockpit = gradviz.HookBench(model), gradviz.Cockpit(step)
cockpit.run(3)
report = {"rank": 0, "size": 1, "graph": {}, "timeline": [
    {"bucket": 0, "parameters": ["0.weight"], "bytes": 128, "arrived": [0.1], "started": 0.1,
     "ended": 0.3}]}
ranks = gradviz.RankTimeline([report])
graph = gradviz.Graph(((model(data) - target) ** 2).mean())
big = torch.randn(3, 40, 30)
"""
    + LEAK
)
PANELS = """ipywidgets.VBox([
    ipywidgets.HBox([flow, graph]), ledger, cockpit, bench, gradviz.TensorView(big, label="big"),
    gradviz.StorageMap(w=big, v=big[1:]), gradviz.DerivativeTower(lambda x: x ** 3),
    gradviz.Findings(), ranks])"""
LINK = "link = ipywidgets.link((flow, 'selected'), (graph, 'selected'))"
ASK = "print(cockpit.count, len(model[0].weight._hooks.tensor[0]), graph.selected)"


@pytest.fixture
def book(notebook):
    made = notebook([SETUP, PANELS, LINK, ASK], name="panels.ipynb")
    for number in range(3):
        made.run(number)
    return made


class Panels(View):
    """The panels of a cell, by kind."""

    def __init__(self, book, cell=1):
        super().__init__(book, book.cell(cell))
        self.cell = book.cell(cell)

    def panel(self, kind):
        """The element of one."""
        return self.cell.locator(f"[data-testid=gv-panel][data-panel={kind}]")


def test_panels_compose_answer_and_link(book):
    panels = Panels(book).wait()
    kinds = [
        "flow",
        "ledger",
        "cockpit",
        "hooks",
        "tensor",
        "storage",
        "tower",
        "findings",
        "ranks",
    ]
    for kind in kinds:
        panels.panel(kind).wait_for()
    panels.until(panels.total, lambda total: total > 8)
    for side in (panels.panel("flow"), panels.root):
        panels.until(side.bounding_box, lambda box: box is not None and box["width"] > 250)
    panels.panel("findings").locator("[data-testid=gv-finding]").first.wait_for()
    panels.panel("hooks").locator("[data-testid=gv-hook]").first.wait_for()
    SCREENSHOTS.mkdir(exist_ok=True)
    for kind in kinds:
        panels.panel(kind).screenshot(path=SCREENSHOTS / f"panel-{kind}.png")
    panels.panel("cockpit").locator("[data-testid=gv-run-1]").click()
    panels.panel("hooks").locator("[data-testid=gv-remove]").click()
    gone = panels.panel("hooks").locator("[data-testid=gv-hook]")
    panels.until(gone.count, lambda count: count == 0)
    panels.panel("flow").locator("svg .row").first.click()
    chosen = panels.root.locator("[data-testid=gv-inspector] h3.named")
    panels.until(chosen.all_inner_texts, lambda texts: texts == ["model[0].weight"])
    panels.panel("tower").locator("[data-testid=gv-table]").first.click()
    panels.panel("tower").locator("table").wait_for()
    book.run(3)
    assert book.output(3).split() == ["4", "0", "model[0].weight"]
    assert book.serious_errors() == []


@needs_axe
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_violation(notebook, theme):
    player = "gradviz.BackwardPlayer(((model(data) - target) ** 2).mean())"
    book = notebook([SETUP, PANELS, player], theme=theme, name=f"axe-{theme}.ipynb")
    for number in range(3):
        book.run(number)
    panels = Panels(book).wait()
    panels.panel("findings").wait_for()
    panels.until(panels.total, lambda total: total > 8)
    panels.select(label="model[0].weight")
    book.cell(2).locator("[data-testid=gv-player]").wait_for()
    assert violations(book.page, ".jp-OutputArea-output") == []
