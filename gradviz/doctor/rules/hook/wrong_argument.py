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
    leaves = {h.facts.storage: h.facts.id for h in case.held if h.facts.leaf}
    for event in case.ledger.events if codes else ():
        if event.kind != "bump" or event.sweep < 0 or not event.note:
            continue
        leaf, chain = leaves.get(event.memory), (event.note[0], *event.note[2][::2])
        at = next((at for at, code in enumerate(chain) if code in codes), None)
        code = None if at is None else chain[at]
        looked = {name for inner in chain[: (at or 0) + 1] for name in inner.co_names}
        if leaf and code in codes - told and not looked & LEGITIMATE:
            told.add(code)
            name = case.named(leaf)
            yield RULE.found(case, [name], case.place(event.note), None, [leaf], name=name)


RULE = Rule("GV315", "hook.wrong-argument", "error", look)
