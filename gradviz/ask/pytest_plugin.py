"""For pytest: the fixture and the marker ``gradviz_no_leaks``. What a test's operations leave alive
when it is over fails it, with the name of what holds it.
"""

from __future__ import annotations

import gc
import sys

import pytest

from gradviz.texts import text

NAME = "gradviz_no_leaks"
WATCH = pytest.StashKey()


def pytest_configure(config):
    """Make the marker known."""
    config.addinivalue_line("markers", f"{NAME}: {text('ask.pytest.marker')}")


@pytest.fixture(autouse=True)
def _gradviz_marked(request):
    if request.node.get_closest_marker(NAME) is not None:
        request.getfixturevalue(NAME)


@pytest.fixture
def gradviz_no_leaks(request):
    """Fails the test when operations that it recorded are still alive after it, except through
    values of its fixtures. Is the :class:`~gradviz.ask.watching.Watching`.
    """
    from .watching import watching

    with watching() as watch:
        request.node.stash[WATCH] = watch
        yield watch
        del request.node.stash[WATCH]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """When a test has passed: what it left behind."""
    result = yield
    watch = item.stash.get(WATCH, None)
    said = _left(watch, item.funcargs) if watch is not None else ""
    if said:
        pytest.fail(said, pytrace=False)
    return result


def _left(watch, given):
    """What is still alive and who holds it, in words; '' when there is nothing."""
    from gradviz.doctor import Choice, look
    from gradviz.export import words
    from gradviz.sources.graph import reach

    gc.collect()
    source = watch.source
    source.drain(float("inf"))
    values = [value for name, value in given.items() if name != NAME]
    excused = reach(_tops(values)).nodes
    left = [node for ref in source.born if (node := ref()) is not None and node.seq not in excused]
    if not left:
        return ""
    moment = watch.moment()
    moment.roots.extra.update(_globals(watch))
    found = words.serious(look(source.case(moment.roots), Choice(select=("leak",))))
    said = [words.paragraph(one, moment.where(one)) for one in found]
    said = said or [_held(left[-1], moment)]
    return "\n".join([text("ask.pytest.left", count=len(left)), *said])


def _tops(values):
    """The nodes of the tensors that ``values`` hold."""
    from gradviz.sources.interest import Interest
    from gradviz.sources.reading import node_behind
    from gradviz.watch.holders import Roots, walk

    found = walk(Roots(extra=dict(enumerate(values))), Interest()).holdings
    nodes = [node_behind(one.thing) for one in found]
    return [node for node in nodes if node is not None]


def _globals(watch):
    """The globals of every module of the person's, by their full names."""
    out = {}
    for name, module in list(sys.modules.items()):
        if watch.is_mine(getattr(module, "__file__", None) or "<none>"):
            for variable, value in list(vars(module).items()):
                if not variable.startswith("__"):
                    out[f"{name}.{variable}"] = value
    return out


def _held(node, moment):
    from .alive import alive_at

    return alive_at(node, moment).text
