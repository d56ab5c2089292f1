"""Events by name, and their table."""

from __future__ import annotations

ROWS = (
    ("Self CPU %", "self_share"),
    ("Self CPU", "self_cpu_time_total_str"),
    ("CPU total %", "share"),
    ("CPU total", "cpu_time_total_str"),
    ("CPU time avg", "cpu_time_str"),
)
WIDTH = 12


def written(microseconds):
    """A time as text, in the unit that suits it."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


class Written:
    """Times as text."""

    __slots__ = ()

    @property
    def cpu_time_str(self):
        """``cpu_time`` as text."""
        return written(self.cpu_time)

    @property
    def cpu_time_total_str(self):
        """``cpu_time_total`` as text."""
        return written(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self):
        """``self_cpu_time_total`` as text."""
        return written(self.self_cpu_time_total)


class FunctionEventAvg(Written):
    """All events of one name (and shapes): how many, how long, how much memory."""

    def __init__(self, key, input_shapes=()):
        self.key, self.input_shapes, self.count = key, list(input_shapes), 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.is_user_annotation = False

    def add(self, event):
        """Count one event."""
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.cpu_memory_usage += event.cpu_memory_usage
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        self.is_user_annotation |= getattr(event, "kind", "") == "user_annotation"
        return self

    @property
    def cpu_time(self):
        """Microseconds a call."""
        return self.cpu_time_total / max(self.count, 1)

    def __repr__(self):
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes or ''} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class EventList(list):
    """Rows; ``table()`` prints them, and so does ``str``."""

    def __str__(self):
        return self.table()

    @property
    def self_cpu_time_total(self):
        """Microseconds of all rows, each without what lies in it."""
        return sum(e.self_cpu_time_total for e in self)

    def key_averages(self, group_by_input_shape=False, **_):
        """The events by name, and by shapes when asked."""
        found: dict = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else []
            key = (event.key, str(shapes))
            if key not in found:
                found[key] = FunctionEventAvg(event.key, shapes)
            found[key].add(event)
        return EventList(found.values())

    def total_average(self):
        """All rows as one."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by=None,
        row_limit=100,
        max_src_column_width=75,
        max_name_column_width=55,
        max_shapes_column_width=80,
        header=None,
        top_level_events_only=False,
        time_unit=None,
    ):
        """The rows as text, ordered by ``sort_by``; AttributeError when they do not have that."""
        if not self:
            return ""
        rows = list(self)
        if sort_by is not None:
            rows.sort(key=lambda e: getattr(e, sort_by.replace("cuda", "cpu")), reverse=True)
        rows = rows[:row_limit] if row_limit >= 0 else rows
        total = self.self_cpu_time_total
        columns = [("Name", [_cut(e.key, max_name_column_width) for e in rows])]
        columns += [(title, [_cell(e, what, total) for e in rows]) for title, what in ROWS]
        columns.append(("# of Calls", [str(e.count) for e in rows]))
        if any(e.cpu_memory_usage for e in rows):
            columns.append(("CPU Mem", [f"{e.cpu_memory_usage} b" for e in rows]))
        if any(e.input_shapes for e in rows):
            shapes = [_cut(str(e.input_shapes), max_shapes_column_width) for e in rows]
            columns.append(("Input Shapes", shapes))
        return _drawn(columns, header, total)


def _cut(text, width):
    return text if len(text) <= width else text[: width - 3] + "..."


def _cell(event, what, total):
    if what == "share":
        return _share(event.cpu_time_total, total)
    if what == "self_share":
        return _share(event.self_cpu_time_total, total)
    return getattr(event, what)


def _share(part, total):
    return f"{100 * part / total:.2f}%" if total else "0.00%"


def _drawn(columns, header, total):
    widths = [max(len(c) for c in (title, "-" * WIDTH, *cells)) for title, cells in columns]
    rule = "  ".join("-" * w for w in widths) + "  "
    lines = [rule] if header is None else ["=" * len(rule), header, rule]
    for row in zip(*([title, *cells] for title, cells in columns), strict=True):
        lines.append("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) + "  ")
        if len(lines) <= (2 if header is None else 4):
            lines.append(rule)
    return "\n".join([*lines, rule, f"Self CPU time total: {written(total)}", ""])
