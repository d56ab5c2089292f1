"""The name of a tensor is the one a person would use."""

from gradviz.watch.links import Step, path_of
from gradviz.watch.names import best


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
