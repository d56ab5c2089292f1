"""The main function of a script keeps its locals for one look; the program notices nothing."""

import ast

import pytest

from gradviz.cli.locals import KEEPER, KeepLocals
from gradviz.watch.holders import Roots, walk

SCRIPT = '''
def main():
    """What it does."""
    history = [Thing()]
    return len(history)

def other():
    x = 1

other()
if __name__ == "__main__":
    main()
'''


class Thing:
    pass


class Interest:
    def kind(self, kind):
        return "tensor" if kind is Thing else None

    def children(self, thing):
        return ()


def run(script):
    names = {"__name__": "__main__", "Thing": Thing}
    keeper = KeepLocals(names)
    tree = keeper.visit(ast.parse(script))
    return keeper, names, lambda: exec(compile(tree, "<script>", "exec"), names)


def test_what_the_end_of_a_script_calls_keeps_its_locals():
    keeper, names, start = run(SCRIPT)
    start()
    assert [name for name, _ in keeper.kept] == ["main"] and names["main"]() == 1
    assert names["main"].__doc__ == "What it does." and len(keeper.kept) == 1
    found = walk(Roots({}, frames=keeper.kept), Interest())
    assert [holding.path for holding in found.holdings] == ["main().history[0]"]


def test_what_failed_is_in_the_traceback_and_generators_stay_as_they_are():
    keeper, _, start = run("def main():\n    x = 1 / 0\nmain()")
    with pytest.raises(ZeroDivisionError) as caught:
        start()
    assert keeper.kept == [] and caught.traceback[-1].lineno == 1
    _, names, start = run("def main():\n    yield 1\nmain()")
    start()
    assert KEEPER not in names["main"].__code__.co_names
