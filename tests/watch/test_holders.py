"""The walk finds every strong holder, names it as a person would, and keeps nothing."""

import functools
import gc
import logging
import logging.handlers
import types
import weakref
from collections import deque

import pytest

from gradviz.watch.holders import Roots, walk
from gradviz.watch.links import category


class Thing:
    """Stands for a tensor."""


class Interest:
    def kind(self, type_):
        return "tensor" if type_ is Thing else None

    def children(self, thing):
        return vars(thing).get("inner", ())


class Box:
    def __init__(self, item):
        self.item = item


class Slotted:
    __slots__ = ("item",)

    def __init__(self, item):
        self.item = item


class Module:
    def __init__(self, **children):
        self.__dict__ |= {"_parameters": {}, "_buffers": {}, "_modules": children, "training": True}


def paths(roots=None, **names):
    found = walk(roots or Roots(user_ns=names), Interest())
    return {holding.path: category(holding.steps) for holding in found.holdings}


def closure_over(value):
    return lambda: value


def running(value):
    yield 1
    print(value)


def failing():
    hidden = Thing()
    raise ValueError(hidden.__class__)


def caught():
    try:
        failing()
    except ValueError as error:
        return error


def cached():
    @functools.lru_cache(maxsize=8)
    def table(n):
        return Thing()

    table(3), table(4)
    return table


def with_default(x, seen=(Thing(),), *, more=Thing()):  # noqa: B008
    return x


def suspended():
    generator = running(Thing())
    next(generator)
    return generator


def buffered():
    handler = logging.handlers.MemoryHandler(100, flushLevel=logging.CRITICAL)
    logger = logging.Logger("t")
    logger.addHandler(handler)
    logger.info("%s", Thing())
    return handler


def model():
    layer, net = Module(), Module(fc=None)
    layer._parameters["weight"] = Thing()
    net._modules = {"fc": layer, "0": Module()}
    net._modules["0"]._buffers["mean"] = Thing()
    layer._forward_hooks = {7: Box(Thing()).__init__}
    return net


@pytest.mark.parametrize(
    ("make", "path", "kind"),
    [
        (Thing, "it", "name"),
        (lambda: [1, Thing()], "it[1]", "container"),
        (lambda: {"a": {"b": (Thing(),)}}, "it['a']['b'][0]", "container"),
        (lambda: deque([Thing()]), "it[0]", "container"),
        (lambda: {("a", 1): Thing()}, "it[('a', 1)]", "container"),
        (lambda: {(2,): Thing()}, "it[(2,)]", "container"),
        (lambda: {((), print): Thing()}, "it[* 0]", "container"),
        (lambda: {"x" * 10_000: Thing()}, f"it['{'x' * 60}'…]", "container"),
        (lambda: Box(Thing()), "it.item", "attribute"),
        (lambda: Slotted([Thing()]), "it.item[0]", "container"),
        (lambda: closure_over([Thing()]), "it.__closure__['value'][0]", "closure"),
        (lambda: functools.partial(print, Thing()), "it.args[0]", "container"),
        (caught, "it.__traceback__ -> frame 'failing' -> local 'hidden'", "traceback"),
        (cached, "it cache entry (3)", "cache"),
        (lambda: with_default, "it.__defaults__[0][0]", "default"),
        (lambda: with_default, "it.__kwdefaults__['more']", "default"),
        (suspended, "it.gi_frame.f_locals['value']", "generator"),
        (buffered, "it.buffer[0].args[0]", "logger"),
        (model, "it.fc.weight", "attribute"),
        (model, "it[0].mean", "buffer"),
        (model, "it.fc._forward_hooks[0].__self__.item", "hook"),
    ],
)
def test_paths(make, path, kind):
    assert paths(it=make())[path] == kind


def test_display_and_last_error():
    error = caught()
    roots = Roots(
        user_ns={"_": Thing(), "_3": Thing()},
        out={3: Thing()},
        tracebacks=[("sys.last_traceback", error.__traceback__)],
    )
    found = paths(roots)
    assert found["Out[3]"] == found["_3"] == found["_"] == "display"
    assert found["sys.last_traceback -> frame 'failing' -> local 'hidden'"] == "traceback"


def test_weak_structures_hold_nothing():
    thing = Thing()
    found = paths(
        a=weakref.ref(thing), b=weakref.WeakSet([thing]), c=weakref.WeakValueDictionary({1: thing})
    )
    assert found == {}


def test_the_shortest_path_is_found_and_every_holder_of_a_tensor():
    thing = Thing()
    assert set(paths(w=thing, deep=[[thing]])) == {"w", "deep[0][0]"}


def test_a_cycle_ends():
    ring = []
    ring.append(ring)
    ring.append(Thing())
    assert list(paths(ring=ring)) == ["ring[1]"]


def test_the_walk_is_bounded():
    chain = []
    for _ in range(200_000):
        chain = [chain]
    assert not walk(Roots(user_ns={"chain": chain}), Interest(), limit=1_000).complete


def test_what_is_met_again_and_again_does_not_make_the_walk_long():
    looked_at = []

    class Row(list):
        def __iter__(self):
            for item in super().__iter__():
                looked_at.append(0)
                yield item

    rows = [Row([()] * 1_000) for _ in range(900)]
    found = walk(Roots(user_ns={"rows": rows}), Interest(), limit=1_000)
    assert not found.complete and len(looked_at) < 10_000


def test_nothing_is_kept_after_the_call():
    generator = suspended()
    thing = weakref.ref(next(iter(generator.gi_frame.f_locals.values())))
    gc.collect()
    paths(it=generator)
    for _ in generator:
        pass
    gc.collect()
    assert thing() is None


def test_strange_objects_do_not_stop_the_walk():
    class Strange:
        def __getattribute__(self, name):
            raise RuntimeError(name)

    class Uncountable(list):
        def __len__(self):
            raise TypeError

    assert list(paths(a=Strange(), b=Uncountable(), c=[Thing()])) == ["c[0]"]


def test_nothing_is_held_by_the_shell_that_reaches_everything():
    class Shell:
        def __init__(self):
            self.user_ns_hidden = {"_": Thing()}

        def run_code(self):
            raise ValueError

    shell = Shell()
    try:
        shell.run_code()
    except ValueError as error:
        roots = Roots(tracebacks=[("sys.last_traceback", error.__traceback__.tb_next)], shell=shell)
        assert paths(roots) == {}


def test_a_large_module_does_not_make_every_cell_slow():
    """What a person's own module keeps is bounded apart: names are still walked whole."""
    helpers, last = types.ModuleType("helpers"), Thing()
    helpers.table = [[[k]] for k in range(50_000)]
    names = {"helpers": helpers, "mine": [*([[k]] for k in range(5_000)), last]}
    found = walk(Roots(user_ns=names, modules=(helpers,)), Interest())
    assert [holding.thing for holding in found.holdings] == [last]
    assert found.visited < 20_000 and not found.complete


def test_a_tensor_in_a_large_module_is_found_through_a_name_too():
    helpers, last = types.ModuleType("helpers"), Thing()
    helpers.table = [*([[k]] for k in range(50_000)), [last]]
    names = {"mine": helpers.table[-1]}
    found = walk(Roots(user_ns=names, modules=(helpers,)), Interest())
    assert "mine[0]" in [holding.path for holding in found.holdings]


def test_the_columns_of_a_table():
    pd = pytest.importorskip("pandas")
    rows = [{"step": k, "loss": Thing(), ("a", 1): Thing()} for k in range(2)]
    names = {"table": pd.DataFrame(rows), "one": pd.Series([1, Thing()], index=["x", "y"])}
    names["empty"] = pd.DataFrame()
    assert set(paths(Roots(user_ns=names))) == {
        "table['loss'][0]",
        "table['loss'][1]",
        "table[('a', 1)][0]",
        "table[('a', 1)][1]",
        "one['y']",
    }
