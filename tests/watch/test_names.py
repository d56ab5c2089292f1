"""The name of a tensor is the one a person would use."""

import weakref

from gradviz.watch.links import Link, Step, path_of
from gradviz.watch.names import Names, best


def candidate(*steps):
    made = tuple(Step(kind, name) for kind, name in steps)
    return made, path_of(made)


def test_a_plain_name_wins_over_containers_and_optimisers():
    plain = candidate(("name", "w"))
    listed = candidate(("name", "params"), ("item", 0))
    inside = candidate(("name", "o"), ("attribute", "param_groups"), ("item", 0))
    member = candidate(("name", "model"), ("member", "fc1"), ("parameter", "weight"))
    assert best([listed, inside, plain]) == "w"
    assert best([inside, member]) == "model.fc1.weight"
    assert best([]) == ""
    assert best([candidate(("display", "Out[3]")), listed]) == "params[0]"


def test_what_only_a_traceback_holds_has_the_name_of_its_frame():
    frame = (("name", "sys.last_traceback"), ("frame", "forward"))
    assert best([candidate(*frame, ("local", "h"))]) == "h"
    deep = candidate(*frame, ("local", "self"), ("member", "fc"), ("parameter", "weight"))
    assert best([deep]) == "self.fc.weight"


def test_names_are_written_out_when_asked_for_and_what_is_on_the_paths_is_let_go():
    owner = Thing()
    found = Names()
    found.add(1, Link(Link(None, "name", "box"), "attribute", "w", owner))
    found.add(1, Link(None, "name", "w"))
    found.add(2, Link(None, "name", "b"))
    assert found.get(1) == "w" and [path for _, path in found.of(1)] == ["box.w", "w"]
    ref = weakref.ref(owner)
    del owner
    found.rest([2])
    assert ref() is None and found.get(1) == "w" and len(found.of(1)) == 2 and found.of(2)


class Thing:
    pass
