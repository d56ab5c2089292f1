"""GV111: a log record keeps the tensors that it was given to print."""

from logging import LogRecord

from gradviz.doctor.finding import Rule, ids, paths


def look(case):
    """Arguments with a graph of log records that a handler or a list still has."""
    for group in case.units("logger").values():
        record = next((o for o in group[-1].link.owners() if isinstance(o, LogRecord)), None)
        place = (
            case.places.at(record.pathname, record.lineno, record.funcName)
            if record is not None
            else None
        )
        yield RULE.found(
            case, paths(group), place, case.graph.weigh(ids(group)), ids(group), count=len(group)
        )


RULE = Rule("GV111", "leak.logger", "warning", look)
