"""GV310: gradients are clipped after the optimiser has used them."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import best_first


def look(case):
    """clip_grad_… changed a gradient after the step that used it and before the next backward."""
    lines = {}
    for held in best_first([h for h in case.held if h.facts.leaf]):
        account = case.ledger.leaves.get(held.facts.own)
        if account is not None and account.late_clips:
            clip = account.late_clips[-1][0]
            if clip.note:
                lines.setdefault(clip.note[:2], (clip, account, []))[2].append(held)
    for clip, account, group in lines.values():
        place = case.place(clip.note)
        if place is not None and "inf" in place.code:
            continue  # only to measure the norm
        holders = [f"{held.path}.grad" for held in group]
        yield RULE.found(case, holders, place, count=len(account.late_clips))


RULE = Rule("GV310", "optim.clip-after-step", "warning", look)
