"""The ticker lives only between start and stop."""

import threading

from gradviz.notebook.ticker import Ticker


def test_it_ticks_and_ends():
    ticked = threading.Event()
    ticker = Ticker(ticked.set, 0.001)
    assert not ticker.alive
    ticker.start()
    ticker.start()
    assert ticked.wait(5) and ticker.alive
    ticker.stop()
    assert not ticker.alive
    assert not [t for t in threading.enumerate() if t.name == "gradviz-ticker"]


def test_stop_without_start_and_start_again():
    ticked = threading.Event()
    ticker = Ticker(ticked.set, 0.001)
    ticker.stop()
    ticker.start()
    ticker.stop()
    ticked.clear()
    ticker.start()
    assert ticked.wait(5)
    ticker.stop()


def test_where_there_are_no_threads_it_stands_still(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    ticker = Ticker(lambda: None, 0.001)
    ticker.start()
    assert not ticker.alive
    ticker.stop()
