"""GV118: small views in a container pin the large storages that they were cut from."""

from gradviz.doctor.finding import Rule, paths
from gradviz.doctor.where import put
from gradviz.watch.case import Weight

RATIO = 8
WASTE = 1_024


def look(case):
    """Two or more storages of which a container holds only a small part, and nothing
    else the rest.
    """
    spread = {}
    for held in case.held:
        spread.setdefault(held.facts.storage, []).append(held)
    units = {}
    for storage, group in spread.items():
        whole = group[0].facts.storage_bytes
        seen = sum({h.facts.own: h.facts.bytes for h in group}.values())
        small = all(h.category == "container" and not h.facts.attached for h in group)
        if small and seen * RATIO <= whole and whole - seen >= WASTE:
            units.setdefault(group[0].unit, []).append((storage, group[0], whole - seen))
    for found in units.values():
        if len(found) >= 2:
            group = [held for _, held, _ in found]
            weight = Weight(bytes=sum(waste for _, _, waste in found))
            yield RULE.found(
                case, paths(group), put(case, group, plain=True), weight, count=len(found)
            )


RULE = Rule("GV118", "alias.view-keeps-base", "warning", look)
