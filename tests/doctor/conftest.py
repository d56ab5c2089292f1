"""Rules are tested for what they find, not for how fast."""

import logging

import pytest

from gradviz.sources import strays


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """After other tests the heap is large: the walk over it may take as long as it needs."""
    monkeypatch.setattr(strays, "SLOW", 60)


@pytest.fixture(autouse=True)
def no_logger_of_a_program_stays():
    """What a program gave a logger of its own is gone with it: the next one may use the name."""
    known = logging.root.manager.loggerDict
    before = set(known)
    yield
    for name in set(known) - before:
        if isinstance(known[name], logging.Logger):
            known[name].handlers.clear()
        del known[name]


class _Raises(logging.Handler):
    def emit(self, record):
        if record.exc_info:
            raise record.exc_info[1]


@pytest.fixture
def rules_may_not_fail():
    """What a rule raises is only logged; here it is a failure of the test."""
    log, handler = logging.getLogger("gradviz"), _Raises()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    yield
    log.setLevel(before)
    log.removeHandler(handler)
