"""Questions are asked of a notebook without a shell, and of plain code."""

import pytest

from gradviz.ask import moment
from gradviz.ask.moment import Moment
from gradviz.notebook import alias
from gradviz.watch.holders import Roots
from tests.doctor.notebook import Notebook


@pytest.fixture
def book():
    """A watched notebook that questions are asked about; its cells may ask too."""
    alias.install()
    made = Notebook()
    before = moment.provided()
    moment.provide(lambda: Moment(made.source, Roots(user_ns=made.ns, out=made.out)))
    made.run("import torch, gradviz\nw = torch.ones(3, requires_grad=True)")
    yield made
    moment.provide(before)
    made.close()
