"""GV707: softmax is applied twice: probabilities were given to a loss that expects logits."""

from gradviz.doctor.finding import Rule


def look(case):
    """A log-softmax whose input comes straight from a softmax."""
    tops = {held.facts.id: held for held in case.held if held.facts.attached}
    told = set()
    for id, held in sorted(tops.items()):
        for node in sorted(case.graph.weigh([id], 20_000).nodes):
            if not case.graph.op(node).startswith("LogSoftmaxBackward") or case.graph.note(node)[:2] in told:
                continue
            if any(case.graph.op(i).startswith("SoftmaxBackward") for _, i, leaf in case.graph.inputs(node) if not leaf):
                told.add(case.graph.note(node)[:2])
                place = case.place(case.graph.note(node))
                yield RULE.found(case, [held.path], place, None, [node], name=held.path)


RULE = Rule("GV707", "num.double-softmax", "warning", look)
