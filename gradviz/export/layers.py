"""A layered layout: rows by depth, few crossings, straight where it can be. All steps are loops."""

from __future__ import annotations

from collections import deque

GAP_X, GAP_Y, MARGIN = 28.0, 38.0, 24.0
SWEEPS = 8


class _Bend:
    """Where a long edge passes through a row."""

    __slots__ = ("width", "height", "x", "y", "weight")

    def __init__(self):
        self.width, self.height, self.x, self.y, self.weight = 8.0, 0.0, 0.0, 0.0, 2.0


def arrange(boxes: dict, links: list, make_line):
    """Place ``boxes`` and route ``links``.

    ``boxes`` (by key) have ``width``, ``height``, ``weight``, get ``x`` and ``y``; ``links`` are
    (edge, source key, target key). Returns the lines, the width and the height.
    """
    if not boxes:
        return [], 2 * MARGIN, 2 * MARGIN
    row_of = _rows(boxes, links)
    rows, chains = _with_bends(boxes, links, row_of)
    above, below = _neighbours(chains)
    for sweep in range(SWEEPS):
        _order(rows, above if sweep % 2 == 0 else below, downwards=sweep % 2 == 0)
    width = _place_across(rows, above, below)
    height = _place_down(rows)
    return [make_line(edge, _points(chain)) for edge, chain in chains], width, height


def _rows(boxes, links):
    """The row of each box: below all its inputs, then as low as what it feeds allows."""
    targets, waiting = {}, dict.fromkeys(boxes, 0)
    for _, source, target in links:
        targets.setdefault(source, []).append(target)
        waiting[target] += 1
    row = dict.fromkeys(boxes, 0)
    ready = deque(key for key in boxes if not waiting[key])
    order = []
    while ready:
        key = ready.popleft()
        order.append(key)
        for target in targets.get(key, ()):
            row[target] = max(row[target], row[key] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    for key in reversed(order):
        if key in targets:
            row[key] = min(row[target] for target in targets[key]) - 1
    return row


def _with_bends(boxes, links, row_of):
    """Rows of things, and for each link the chain of things it passes from source to target."""
    rows = [[] for _ in range(max(row_of.values()) + 1)]
    for key, box in boxes.items():
        rows[row_of[key]].append(box)
    chains = []
    for edge, source, target in links:
        chain = [boxes[source]]
        for number in range(row_of[source] + 1, row_of[target]):
            bend = _Bend()
            rows[number].append(bend)
            chain.append(bend)
        chains.append((edge, [*chain, boxes[target]]))
    return rows, chains


def _neighbours(chains):
    above, below = {}, {}
    for _, chain in chains:
        for upper, lower in zip(chain, chain[1:], strict=False):
            above.setdefault(id(lower), []).append(upper)
            below.setdefault(id(upper), []).append(lower)
    return above, below


def _order(rows, neighbours, downwards):
    """One sweep: each row by the mean position of its neighbours in the row before."""
    place = {id(thing): i for row in rows for i, thing in enumerate(row)}
    for row in rows if downwards else reversed(rows):
        wish = {}
        for i, thing in enumerate(row):
            near = [place[id(other)] for other in neighbours.get(id(thing), ())]
            wish[id(thing)] = sum(near) / len(near) if near else i
        row.sort(key=lambda thing: wish[id(thing)])
        place.update((id(thing), i) for i, thing in enumerate(row))


def _place_across(rows, above, below):
    """Give each thing an x near its neighbours, keeping order and gaps; the width of all."""
    for row in rows:
        _spread(row, [0.0] * len(row))
    for sweep in range(2 * SWEEPS):
        neighbours = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wishes = []
            for thing in row:
                near = neighbours.get(id(thing)) or [thing]
                weight = sum(other.weight for other in near)
                wishes.append(sum(other.x * other.weight for other in near) / weight)
            _spread(row, wishes)
    things = [thing for row in rows for thing in row]
    left = min(thing.x - thing.width / 2 for thing in things)
    for thing in things:
        thing.x += MARGIN - left
    return max(thing.x + thing.width / 2 for thing in things) + MARGIN


def _spread(row, wishes):
    """The x nearest to ``wishes`` that leave the gaps; the heavier wish counts more (pooling)."""
    offsets, offset = [], 0.0
    for i, thing in enumerate(row):
        if i:
            offset += row[i - 1].width / 2 + GAP_X + thing.width / 2
        offsets.append(offset)
    pools = []
    for thing, wish, start in zip(row, wishes, offsets, strict=True):
        pools.append([wish - start, thing.weight, 1])
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            value, weight, count = pools.pop()
            before = pools[-1]
            before[0] = (before[0] * before[1] + value * weight) / (before[1] + weight)
            before[1] += weight
            before[2] += count
    bases = [value for value, _, count in pools for _ in range(count)]
    for thing, base, start in zip(row, bases, offsets, strict=True):
        thing.x = base + start


def _place_down(rows):
    y = MARGIN
    for row in rows:
        height = max((thing.height for thing in row), default=0.0)
        for thing in row:
            thing.y = y + height / 2
        y += height + GAP_Y
    return y - GAP_Y + MARGIN


def _points(chain):
    first, last = chain[0], chain[-1]
    inner = [(bend.x, bend.y) for bend in chain[1:-1]]
    return [(first.x, first.y + first.height / 2), *inner, (last.x, last.y - last.height / 2)]
