"""GV407: softmax is applied twice: probabilities were given to a loss that expects logits."""

from gradviz.doctor.finding import Rule

PAIRS = (
    ("LogSoftmaxBackward", "SoftmaxBackward"),
    ("BinaryCrossEntropyWithLogitsBackward", "SigmoidBackward"),
)


def look(case):
    """A log-softmax whose input comes straight from a softmax; a loss on logits fed by a
    sigmoid.
    """
    told = set()
    found = [node for pair in PAIRS for node in case.graph.fed_by(*pair)]
    for node in found:
        note = case.graph.note(node)
        if note[:2] not in told:
            told.add(note[:2])
            name = _above(case, node)
            yield RULE.found(
                case, [name] if name else [], case.place(note), None, [node], name=name
            )
    for note in (note for pair in PAIRS for note in case.graph.fed_in_losses(*pair)):
        if note[:2] not in told:
            told.add(note[:2])
            yield RULE.found(case, [], case.place(note), name="")


def _above(case, node):
    """A held result that was computed from the node."""
    for id in sorted(
        {held.facts.id for held in case.held if held.facts.attached and held.facts.id >= node}
    ):
        if node in case.graph.weigh([id]).nodes:
            return case.named(id)
    return ""


RULE = Rule("GV407", "num.double-softmax", "warning", look)
