"""A page in Python: decodes frames as the JavaScript does, from docs/protocol.md alone."""

from array import array

NODE = "id kind op label shape dtype device version cell line code module flags".split()
NODE += "saved saved_alive hooks creator".split()
TEXTS = {"op", "label", "shape", "dtype", "device", "code", "module"}
EDGE = "source target slot output cut reserved".split()


def read_nodes(rows, numbers, table):
    """The node rows of a frame as dicts."""
    ints, floats = _read("i", rows), _read("d", numbers)
    for n in range(len(ints) // len(NODE)):
        row = dict(zip(NODE, ints[n * len(NODE) : (n + 1) * len(NODE)], strict=True))
        row |= {name: table[row[name]] for name in TEXTS}
        yield row | {"bytes": floats[2 * n], "grad_norm": floats[2 * n + 1]}


def read_edges(rows, norms, table):
    """The edge rows of a frame as dicts."""
    ints, floats = _read("i", rows), _read("f", norms)
    for n in range(len(ints) // len(EDGE)):
        row = dict(zip(EDGE, ints[n * 6 : n * 6 + 6], strict=True))
        yield row | {"cut": table[row["cut"]], "grad_norm": floats[n]}


class Page:
    """Follows frames; ``lost`` counts those that did not fit."""

    def __init__(self):
        self.seq, self.lost, self.frames = -1, 0, []
        self.strings, self.nodes, self.edges = [], {}, {}
        self.findings, self.status, self.details = [], {}, {}

    def hear(self, message, buffers=()):
        """Take one message of Python."""
        if message["t"] == "detail":
            self.details[message["id"]] = message["detail"]
        if message["t"] != "frame":
            return
        self.frames.append(message)
        if message["base"] == -1:
            self.strings, self.nodes, self.edges = [], {}, {}
        elif message["base"] != self.seq:
            self.lost += 1
            return
        self.seq = message["seq"]
        self.strings += message["strings"]
        self._rows(message, buffers)
        self.findings = message.get("findings", self.findings)
        self.status = message.get("status", self.status)
        self.details |= {int(i): detail for i, detail in message.get("details", {}).items()}

    def _rows(self, message, buffers):
        for i in message["removed"]:
            self.nodes.pop(i, None)
        self.edges = {
            k: e
            for k, e in self.edges.items()
            if not {e["source"], e["target"]} & set(message["removed"])
        }
        for row in read_nodes(buffers[0], buffers[1], self.strings):
            self.nodes[row["id"]] = row
        for row in read_edges(buffers[2], buffers[3], self.strings):
            self.edges[row["target"], row["slot"]] = row


def _read(code, data):
    numbers = array(code)
    numbers.frombytes(bytes(data))
    return numbers
