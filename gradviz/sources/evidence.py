"""Evidence for the doctor: a ``Case`` from the namespace, the live graph and the ledger."""

from __future__ import annotations

import weakref
from functools import cache

import numpy as np

from gradviz.watch import case as model

from . import graph, reading, strays
from .rows import is_parameter, tensor_id

STEPS = 300
NEAR = 20_000
WIDE = 20_000
REMEMBERED = 50_000
ATTENTION, FIRST = 400, 2
NOTHING, KEPT, GONE = 0, 1, 2


def case(source, found, roots) -> model.Case:
    """Everything that the rules may ask about, of what ``found`` (a walk) saw."""
    known: dict[int, model.Facts] = {}
    held, arrays, leaves = [], [], {}
    holdings, unseen = attended(source, found.holdings)
    kinds = reading.kinds()
    for holding in holdings:
        thing = holding.thing
        if isinstance(thing, np.ndarray):
            arrays.append(model.held(holding.link, array_facts(thing), found.again))
            continue
        facts = known.get(id(thing))
        if facts is None:
            is_tensor = isinstance(thing, kinds)
            facts = remembered(thing, source, leaves) if is_tensor else node_facts(thing, source)
            known[id(thing)] = facts
        held.append(model.held(holding.link, facts, found.again))
    source.leaves = leaves
    source.watcher.updates.compare()
    cells = source.recorder.trace.cells
    source.cells.follow(cells)
    source.cells.read([*source.modules(), *_keepers(held, roots)])
    for one in held:
        one.passing = one.facts.leaf and len(one.steps) == 1 and source.cells.is_counted(one.root)
    old, graph = source.cells.superseded, GraphView(source, found.holdings, holdings)
    return model.Case(
        held=held,
        arrays=arrays,
        modules=[_module(h) for h in found.modules],
        optimizers=[_optimizer(h) for h in found.objects if _is_optimizer(h.thing)],
        objects=found.objects,
        ledger=source.ledger,
        cells=source.cells,
        places=source.places,
        graph=graph,
        past=source.watcher.past.view(source.watcher.site, graph.grad_values),
        hooks=list(source.watcher.hooks),
        cuts=list(source.watcher.cuts.values()),
        moves=list(source.watcher.moves.values()),
        updates=source.watcher.updates.ratios,
        errors=[error for error in source.failures if error.cell not in old],
        roots=roots,
        superseded=set(old),
        unseen=unseen,
        cell=cells[-1].count if cells else None,
    )


def attended(source, holdings):
    """(holdings that the rules look at, how many of each container they do not): of very many live
    results the newest, the first of each container and what is talked about already, so that a
    look takes no longer for having many.
    """
    if len(holdings) <= ATTENTION:
        return holdings, {}
    told = {id for finding in source.recorder.trace.findings for id in finding.node_ids}
    groups: dict[int, list] = {}
    chosen = []
    for holding in holdings:
        thing = holding.thing
        node = reading.node_behind(thing)
        if node is None and reading.is_tensor(thing) and reading.is_leaf(thing):
            chosen.append(holding)
        elif node is not None and node.seq in told:
            chosen.append(holding)
        else:
            groups.setdefault(id(holding.link.owner), []).append(holding)
    unseen, share = {}, ATTENTION // len(groups) + FIRST + 1
    for owner, group in list(groups.items())[-ATTENTION:]:
        if len(group) > share + FIRST:
            unseen[owner] = len(group) - share - FIRST
            group = [*group[:FIRST], *group[-share:]]
        chosen += group
    order = {id(holding): at for at, holding in enumerate(holdings)}
    return sorted(chosen, key=lambda holding: order[id(holding)]), unseen


def _keepers(held, roots):
    """The files of modules in which something keeps a graph; they may have computed nothing."""
    files = {m.__name__: m.__file__ for m in roots.modules}
    if not files:
        return []
    kept = {id(h.link.parent): h.link for h in held if h.facts.attached}
    owners = [owner for link in kept.values() for owner in link.owners()]
    names = {getattr(owner, "__module__", None) for owner in owners}  # of objects: of their class
    names |= {link.home for link in kept.values()}
    return sorted(files[name] for name in names & files.keys())


_name_of = cache(str)


def array_facts(array) -> model.Facts:
    """Plain facts of a NumPy array: its memory and size."""
    storage, size = reading.memory(array)
    return model.Facts(
        id=0,
        own=0,
        shape=reading.shape_of(array),
        dtype=str(array.dtype),
        bytes=reading.bytes_of(array),
        storage=storage,
        storage_bytes=size,
        address=reading.address(array),
    )


def remembered(tensor, source, leaves) -> model.Facts:
    """The facts of a leaf of which nothing has changed since the last look, else new ones.
    ``leaves``: those of this look, by identity.
    """
    if reading.node_of(tensor) is not None:
        return facts_of(tensor, source)
    grad = reading.grad(tensor)
    array = reading.array(tensor)
    state = reading.array_id(array), reading.shape_of(array), reading.is_leaf(tensor)
    ref, before, facts = source.leaves.get(id(tensor), (None, None, None))
    if ref is None or ref() is not tensor or before != state or grad is not None:
        ref, facts = weakref.ref(tensor), facts_of(tensor, source)
    leaves[id(tensor)] = ref, state, facts
    return facts


def facts_of(tensor, source) -> model.Facts:
    """Plain facts of one tensor."""
    node, array = reading.node_of(tensor), reading.array(tensor)
    grad = reading.grad(tensor)
    facts = model.Facts(
        id=tensor_id(tensor),
        own=reading.leaf_id(tensor),
        attached=node is not None,
        leaf=reading.is_leaf(tensor),
        parameter=is_parameter(tensor),
        shape=reading.shape_of(array),
        dtype=reading.dtype_of(array),
        bytes=reading.bytes_of(array),
        storage=reading.storage_id(tensor),
        storage_bytes=reading.storage_bytes(tensor),
        address=reading.address(array),
        grad=grad is not None,
        grad_attached=grad is not None and reading.node_of(grad) is not None,
    )
    if node is not None:
        facts.op, facts.epoch, facts.chain = _origin(node, source)
        facts.place = facts.chain[0] if facts.chain else None
        facts.retains = any(kind == "retain_grad" for kind, _ in reading.hooks(node))
    return facts


def node_facts(node, source) -> model.Facts:
    """Plain facts of the result of a node that is held itself: ``loss.grad_fn``."""
    node = reading.node_behind(node)
    facts = model.Facts(id=node.seq, own=-node.seq, attached=True)
    shape, facts.dtype = reading.output_meta(node)[0]
    facts.shape = tuple(shape)
    facts.op, facts.epoch, facts.chain = _origin(node, source)
    facts.place = facts.chain[0] if facts.chain else None
    return facts


def _origin(node, source):
    """(class name, epoch, places) of a node; they do not change, so they are remembered."""
    known = source.origins.get(node.seq)
    if known is None:
        if len(source.origins) > REMEMBERED:
            source.origins.clear()
        chain = source.places.chain(source.watcher.note(node))
        known = node.name(), source.ledger.epoch(node.seq), chain
        if all(place.cell is not None for place in chain):
            source.origins[node.seq] = known
    return known


def _module(holding):
    thing = holding.thing
    parameters, buffers = {}, {}
    pending, seen = [("", thing)], set()
    while pending:
        prefix, module = pending.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        own = module.__dict__
        for name, value in own["_parameters"].items():
            if value is not None:
                parameters[prefix + name] = reading.leaf_id(value)
        for name, value in own["_buffers"].items():
            if reading.is_tensor(value):
                buffers[prefix + name] = reading.leaf_id(value)
        for name, child in own["_modules"].items():
            if child is not None and "_parameters" in getattr(child, "__dict__", ()):
                pending.append((f"{prefix}{name}.", child))
    name, training = type(thing).__name__, bool(thing.__dict__.get("training", True))
    return model.ModuleFacts(
        holding.path, name, training, parameters, thing.__dict__, buffers, thing, holding.steps
    )


def _is_optimizer(thing):
    own = thing.__dict__
    return type(own.get("param_groups")) is list and "state" in own


def _optimizer(holding):
    groups = holding.thing.__dict__["param_groups"]
    leaves = [
        reading.leaf_id(p)
        for group in groups
        for p in group.get("params", ())
        if reading.is_tensor(p)
    ]
    return model.OptimizerFacts(holding.path, leaves, holding.thing)


class GraphView:
    """Questions of the rules about nodes, by serial. Holds the graph for one call only."""

    def __init__(self, source, holdings, seen):
        self._source = source
        self._ledger = source.ledger
        self._nodes, self._tensors = {}, {}
        kinds = reading.kinds()
        for holding in holdings:
            node = reading.node_behind(holding.thing)
            if node is not None:
                self._nodes[node.seq] = node
            if isinstance(holding.thing, kinds):
                id = reading.leaf_id(holding.thing) if node is None else node.seq
                self._tensors.setdefault(id, holding.thing)
        self.norms = source.watcher.flow.norms
        self._every = list(self._nodes.values())
        nodes = (reading.node_behind(holding.thing) for holding in seen)
        self._tops = list({node.seq: node for node in nodes if node is not None}.values())
        self._swept_roots = source.ledger.swept_roots()
        self._swept: dict[int, bool] = {}
        self._weights: dict = {}
        self._states: dict[int, int] = {}
        self._everything = self._by_kind = self._by_line = None

    def everything(self) -> dict:
        """All nodes that held tensors reach, by serial (bounded)."""
        if self._everything is None:
            self._everything = graph.reach(self._tops, WIDE).nodes
            self._nodes.update(self._everything)
        return self._everything

    def weigh(self, ids, limit=NEAR) -> model.Weight:
        """What the nodes ``ids`` hold together: counts, bytes of saved tensors, epochs; at most
        ``limit`` nodes.
        """
        key = frozenset(ids), limit
        if key in self._weights:
            return self._weights[key]
        found = graph.reach([self._nodes[id] for id in key[0] if id in self._nodes], limit)
        weight = model.Weight(set(found.nodes), leaves=set(found.leaves), complete=found.complete)
        saving = []
        for node in found.nodes.values():
            state = self._state(node)
            if state:
                saving.append(node)
                weight.kept += state == KEPT
                weight.freed += state == GONE
        self._nodes.update(found.nodes)
        own = [reading.storage_id(leaf) for leaf in found.leaves.values()]
        weight.bytes = graph.saved_bytes(saving, own)
        self._weights[key] = weight
        return weight

    def below(self, id) -> tuple[set[int], set[int]]:
        """(nodes, leaves) that a node was computed from, itself included."""
        found = self.weigh([id])
        return found.nodes, found.leaves

    def _state(self, node):
        """Whether a node saved nothing, has what it saved, or lost it; remembered."""
        state = self._states.get(node.seq)
        if state is None:
            kept = reading.keeps_saved(node)
            state = NOTHING if kept is None else KEPT if kept else GONE
            self._states[node.seq] = state
        return state

    def _kinds(self):
        """All held nodes by the name of their class."""
        if self._by_kind is None:
            self._by_kind = {}
            for node in self.everything().values():
                self._by_kind.setdefault(reading.class_name(node), []).append(node)
        return self._by_kind

    def swept(self, id) -> bool:
        """Whether a backward that freed the graph has passed through the node or just below it."""
        if id not in self._swept:
            self._swept[id] = id in self._swept_roots or self._freed_below(id)
        return self._swept[id]

    def _freed_below(self, id):
        """Walk down through nodes that save nothing: is the first one that does freed?"""
        pending, seen = [self._nodes[id]] if id in self._nodes else [], set()
        while pending and len(seen) < STEPS:
            node = pending.pop()
            if node.seq in seen:
                continue
            seen.add(node.seq)
            if graph.is_freed(node):
                return True
            if not graph.keeps_saved(node):
                pending += [x[0] for x in reading.inputs(node) if x.__class__ is tuple]
        return False

    def inputs(self, id):
        """(slot, id, is a leaf) of a node's tracked inputs."""
        node = self._nodes.get(id)
        for slot, x in enumerate(reading.inputs(node) if node is not None else ()):
            if x.__class__ is tuple:
                self._nodes[x[0].seq] = x[0]
                yield slot, x[0].seq, False
            elif x is not None:
                yield slot, reading.leaf_id(x), True

    def op(self, id) -> str:
        """The class name of a node."""
        node = self._nodes.get(id)
        return "" if node is None else node.name()

    def note(self, id) -> tuple:
        """Where a node was made, as the observer wrote it."""
        node = self._nodes.get(id)
        return self._source.watcher.note(node) if node is not None else ()

    def freed(self, id) -> bool:
        """Whether a node lost its saved tensors."""
        node = self._nodes.get(id)
        return node is not None and graph.is_freed(node)

    def chain(self, id, hops=6, longest=2_000) -> list[int]:
        """Serials of the nodes made at the same instruction that feed the node one after another,
        newest first.

        A running total is such a chain of additions; a recurrent state one of its last operation.
        Between two links there are at most ``hops`` other nodes.
        """
        links = [id]
        while len(links) < longest and not self._is_alone(id):
            following = self._same_place_below(links[-1], hops)
            if following is None:
                break
            links.append(following)
        return links

    def note_alone(self, id):
        """The node is no link of a chain: so it stays, its inputs do not change."""
        node, alone = self._nodes.get(id), self._source.alone
        if node is not None:
            if len(alone) > REMEMBERED:
                alone.clear()
            alone[id] = reading.weak(node)

    def _is_alone(self, id):
        ref = self._source.alone.get(id)
        return ref is not None and ref() is self._nodes.get(id)

    def _same_place_below(self, id, hops):
        note, op = self.note(id)[:2], self.op(id)
        level, seen = [id], {id}
        for _ in range(hops):
            below = [
                i for x in level for _, i, leaf in self.inputs(x) if not leaf and i not in seen
            ]
            for i in below:
                if note and self.note(i)[:2] == note and self.op(i) == op:
                    return i
            seen.update(below)
            level = below[:200]
        return None

    def repeated(self, least: int) -> list[int]:
        """Serials of the newest node of each line and class that made ``least`` nodes or more."""
        return sorted(max(group) for group in self._lines().values() if len(group) >= least)

    def _lines(self):
        """Serials of all held nodes by the line that made them and their class."""
        if self._by_line is None:
            self._by_line = {}
            for seq, node in self.everything().items():
                note = getattr(node, "note", None)
                if note:
                    self._by_line.setdefault((note, reading.class_name(node)), []).append(seq)
        return self._by_line

    def made_at(self, cell, line) -> list[int]:
        """Serials of the held nodes that a line of a cell made."""
        found, cells = [], self._source.cells
        for group in self._lines().values():
            place = self._source.places.place(*self.note(group[0])[:2])
            if cells.line(place) == (cell, line):
                found += group
        return found

    def steps_behind(self, id) -> list[int]:
        """Serials of the node and of those that its line made before earlier backward passes and
        that it was computed from, newest first, one a step; however much lies in between.
        """
        node = self._nodes.get(id)
        if node is None or self._is_alone(id):
            return [id]
        same = self._lines().get((getattr(node, "note", None), reading.class_name(node)), ())
        newest = {self._ledger.epoch(seq): seq for seq in sorted(same) if seq <= id}
        if len(newest) < 2:
            return [id]
        behind = self.weigh([id]).nodes
        return [id, *sorted((s for s in newest.values() if s in behind and s != id), reverse=True)]

    def path_to(self, top: int, node: int) -> str:
        """``next_functions[0][0].next_functions[1][0]`` from node ``top`` to ``node``, or ''."""
        seen, level = {top: ""}, [top]
        while level and node not in seen:
            below = []
            for id in level:
                for slot, source, leaf in self.inputs(id):
                    if not leaf and source not in seen and len(seen) < NEAR:
                        seen[source] = f"{seen[id]}.next_functions[{slot}][0]"
                        below.append(source)
            level = below
        return seen.get(node, "")

    def contexts(self):
        """(node id, attribute name, bytes) of tensors put on the ctx of custom functions."""
        for nodes in self._kinds().values():
            for node in nodes:
                for name, value in reading.context_items(node):
                    size = sum(
                        reading.bytes_of(reading.array(tensor))
                        for tensor in graph.tensors_in(value)
                        if not reading.is_leaf(tensor)
                    )
                    if size:
                        yield node.seq, name, size

    def codes(self) -> list:
        """The code objects of the person's in which operations were recorded."""
        return self._source.watcher.codes()

    def made_by(self, *ops: str) -> list[int]:
        """Serials of held nodes whose class name begins with one of ``ops``, newest first."""
        chosen = [nodes for kind, nodes in self._kinds().items() if kind.startswith(ops)]
        return sorted((node.seq for nodes in chosen for node in nodes), reverse=True)

    def fed_by(self, op: str, source: str):
        """Serials of nodes whose class name begins with ``op`` and that have an input made by a
        ``source``.
        """
        for kind, nodes in self._kinds().items():
            for node in nodes if kind.startswith(op) else ():
                made = [x[0] for x in reading.inputs(node) if x.__class__ is tuple]
                if any(reading.class_name(x).startswith(source) for x in made):
                    yield node.seq

    def fed_in_losses(self, op: str, source: str):
        """Where the same was, close to what backward was called on; held or not."""
        watcher = self._source.watcher
        for (name, below), notes in watcher.fed.items():
            if name.startswith(op) and below.startswith(source):
                yield from map(watcher.site, notes)

    def alive(self, sweep) -> list[int]:
        """Serials of the roots of a sweep that are still alive."""
        out = []
        for ref in sweep.root_refs:
            node = ref()
            if node is not None and not reading.is_tensor(node):
                self._nodes[node.seq] = node
                out.append(node.seq)
        return out

    def hook_cycles(self):
        """Hooks, not removed since, that close over their own graph."""
        return [cycle for cycle in self._source.watcher.cycles if not cycle.record.removed]

    def context_cycles(self):
        """(node id, attribute) of contexts of custom functions that hold, or held, their own
        output.
        """
        known = set(self._source.watcher.contexts)
        yield from sorted(known)
        customs = [node for ref in self._source.customs if (node := ref()) is not None]
        for node, name in strays.context_cycles(customs):
            self._nodes[node.seq] = node
            if (node.seq, name) not in known:
                yield node.seq, name

    def grad_loops(self):
        """Leaves left behind with a gradient that has a graph."""
        reached = self._tensors.keys()
        return [loop for loop in self._source.watcher.loops if loop.closed(reached)]

    def object_cycles(self):
        """Objects found at some time that nobody reached and that kept a graph alive."""
        born = self._source.born
        if not any(ref() is not None for ref in born):
            return list(self._source.object_cycles.values())
        whole, known = graph.reach(self._every, WIDE), self._source.object_cycles
        if not whole.complete:
            return list(known.values())
        reached = whole.nodes
        patience, lost = self._source.patience, self._source.lost
        for cycle in strays.object_cycles(born, reached, patience, lost):
            known.setdefault((cycle.name, cycle.via), cycle)
        for ref in born:
            node = ref()
            if node is not None:
                self._nodes.setdefault(node.seq, node)
        return list(known.values())

    def values(self, id):
        """The array of a held tensor, for rules about numbers."""
        tensor = self._tensors.get(id)
        return None if tensor is None else reading.value(tensor)

    def grad_values(self, id):
        """The array of the gradient of a held tensor, or None."""
        tensor = self._tensors.get(id)
        grad = None if tensor is None else reading.grad(tensor)
        return None if grad is None else reading.value(grad)
