"""The recorder numbers changes; a reader that follows its deltas has the same graph."""

import threading

from gradviz.watch.model import Detail, Edge, Finding, Node
from gradviz.watch.recorder import REMOVALS_KEPT, Recorder


class Reader:
    """A page that applies deltas."""

    def __init__(self, recorder):
        self.recorder, self.seq, self.nodes, self.edges = recorder, -1, {}, {}

    def follow(self):
        delta = self.recorder.delta(self.seq)
        assert delta.base == (-1 if delta.reset else self.seq)
        if delta.reset:
            self.nodes, self.edges = {}, {}
        for id in delta.removed:
            self.nodes.pop(id)
            self.edges = {k: e for k, e in self.edges.items() if id not in (e.source, e.target)}
        self.nodes |= {node.id: node for node in delta.nodes}
        self.edges |= {(edge.target, edge.slot): edge for edge in delta.edges}
        self.seq = delta.seq
        return delta

    def same(self):
        trace = self.recorder.trace
        return self.nodes == trace.nodes and self.edges == trace.edges


def test_a_reader_follows():
    recorder = Recorder()
    reader = Reader(recorder)
    assert reader.follow().reset
    recorder.put(Node(1, "leaf"))
    recorder.put(Node(2, "operation"))
    recorder.put_edge(Edge(1, 2))
    delta = reader.follow()
    assert not delta.reset and len(delta.nodes) == 2 and reader.same()
    recorder.put(Node(2, "operation", label="y"))
    assert [node.label for node in reader.follow().nodes] == ["y"]
    recorder.remove([1])
    assert reader.follow().removed == [1] and reader.same() and not reader.edges
    assert reader.follow().empty


def test_clear_resets_readers():
    recorder = Recorder()
    reader = Reader(recorder)
    recorder.put(Node(1, "leaf"))
    reader.follow()
    recorder.clear()
    recorder.put(Node(5, "leaf"))
    assert reader.follow().reset and reader.same() and list(reader.nodes) == [5]


def test_too_old_a_reader_starts_again():
    recorder = Recorder()
    recorder.put(Node(0, "leaf"))
    reader = Reader(recorder)
    reader.follow()
    for id in range(1, REMOVALS_KEPT + 5):
        recorder.put(Node(id, "leaf"))
        recorder.remove([id])
    assert reader.follow().reset and reader.same()


def test_a_removed_node_that_returns_is_not_removed_again():
    recorder = Recorder()
    reader = Reader(recorder)
    recorder.put(Node(1, "leaf"))
    reader.follow()
    recorder.remove([1])
    recorder.put(Node(1, "leaf", label="again"))
    assert reader.follow().removed == [] and reader.same()


def test_findings_travel_only_when_they_change():
    recorder = Recorder()
    reader = Reader(recorder)
    reader.follow()
    assert reader.follow().findings is None
    finding = Finding(
        "GV101",
        "leak.container",
        "warning",
        ["h"],
        1,
        1,
        0,
        0,
        {"en": "", "zh": ""},
        {"en": "", "zh": ""},
    )
    recorder.set_findings([finding])
    assert reader.follow().findings == [finding]
    recorder.set_findings([])
    assert reader.follow().findings == []
    recorder.set_findings([])
    assert reader.follow().findings is None


def test_cells_and_state():
    recorder = Recorder()
    recorder.begin_cell(3, "abc", "x = 1")
    assert recorder.trace.state == "running" and recorder.trace.cell == 3
    recorder.end_cell("KeyboardInterrupt: ")
    assert recorder.trace.state == "interrupted" and recorder.trace.cells[-1].ended is not None
    recorder.begin_cell(4, None, "")
    recorder.end_cell("ValueError: no")
    assert recorder.trace.state == "failed"
    recorder.begin_cell(5, None, "")
    recorder.end_cell()
    assert recorder.trace.state == "idle"


def test_details_follow_and_go_with_their_node():
    recorder = Recorder()
    recorder.put(Node(1, "leaf"))
    recorder.put_detail(Detail(1, grad_state="none_yet"))
    assert recorder.delta(-1).details[1].grad_state == "none_yet"
    recorder.remove([1])
    assert recorder.delta(-1).details == {}


def test_many_threads():
    recorder = Recorder()
    reader = Reader(recorder)

    def write(start):
        for id in range(start, start + 300):
            recorder.put(Node(id, "leaf"))
            if id % 3 == 0:
                recorder.remove([id])

    threads = [threading.Thread(target=write, args=(1_000 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        reader.follow()
    reader.follow()
    assert reader.same() and len(reader.nodes) == 800
