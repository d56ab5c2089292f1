"""GV315: a post-accumulate hook changes its argument, which is the parameter and not
the gradient.
"""

from gradviz.doctor.finding import Rule

LEGITIMATE = frozenset(("grad", "step"))


def look(case):
    """A leaf was changed during a backward, by a hook that neither looks at .grad nor calls an
    optimiser.
    """
    codes = {
        getattr(r.hook(), "__code__", None) for r in case.hooks if r.kind == "post_accumulate"
    } - {None}
    told = set()
    for event in case.ledger.events:
        if event.kind != "bump" or event.sweep < 0 or not event.note:
            continue
        code = event.note[0]
        if (
            code in codes
            and not LEGITIMATE.intersection(code.co_names)
            and event.subject in case.ledger.leaves
            and code not in told
        ):
            told.add(code)
            name = case.named(event.subject)
            yield RULE.found(case, [name], case.place(event.note), None, [event.subject], name=name)


RULE = Rule("GV315", "hook.wrong-argument", "error", look)
