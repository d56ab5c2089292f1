"""The player's model: traits follow the recording, the page's wishes drive the sweep."""

import json
import threading

import pytest

from gradviz.watch.recording import FAILED, FINISHED, PAUSED, Recording, Step
from gradviz.widgets.player import PlayerView


class Driver:
    """Runs made-up steps; fails at the step with number ``fails``."""

    def __init__(self, recording, fails=None):
        self.recording, self.fails, self.aborted = recording, fails, False

    def play(self, to):
        plan, steps = self.recording.plan, self.recording.steps
        goal = len(plan) if to is None else min(to, len(plan))
        while len(steps) < goal:
            if len(steps) == self.fails:
                self.recording.state = FAILED
                raise RuntimeError("no")
            steps.append(Step(plan[len(steps)]))
            if plan[len(steps) - 1] in self.stop_at:
                break
        if len(steps) == len(plan):
            self.recording.state = FINISHED

    def abort(self):
        self.aborted = True


@pytest.fixture
def made():
    views = []

    def make(fails=None, busy=lambda: False):
        recording = Recording(plan=[5, 4, 3, 2])
        view = PlayerView(recording, Driver(recording, fails), busy)
        view.heard = []
        view.send = view.heard.append
        views.append(view)
        return view

    yield make
    for view in views:
        view.close()


def ask(view, **message):
    view._handle_custom_msg(message, [])


def test_steps_are_told_as_they_run(made):
    view = made()
    view.step()
    assert (view.position, view.done, view.total, view.state) == (1, 1, 4, PAUSED)
    view.position = 3
    assert (view.done, view.state) == (3, PAUSED)
    view.position = 0
    assert view.done == 3
    view.finish()
    assert (view.position, view.done, view.state) == (4, 4, FINISHED)
    assert len(json.loads(view.recording)["steps"]) == 4


def test_the_page_drives_it(made):
    view = made()
    ask(view, t="drive", to=2)
    assert view.done == 2
    view.breakpoints = [3]
    ask(view, t="drive")
    assert (view.done, view.state) == (3, PAUSED)
    ask(view, t="drive")
    assert view.state == FINISHED
    ask(view, t="abort")
    assert view.position == 0


def test_an_error_is_raised_for_code_and_shown_to_a_page(made):
    with pytest.raises(RuntimeError, match="no"):
        made(fails=1).play()
    view = made(fails=1)
    ask(view, t="drive")
    assert (view.state, view.done) == (FAILED, 1)


def test_while_a_cell_runs_the_page_waits_and_the_cell_does_not(made):
    view = made(busy=lambda: True)
    page = threading.Thread(target=ask, args=(view,), kwargs={"t": "drive", "to": 2})
    page.start()
    page.join()
    assert view.done == 0 and view.heard[-1] == {"t": "busy"}
    view.step()
    assert view.done == 1


def test_a_recording_alone_is_only_played(made):
    told = Recording(plan=[5, 4], steps=[Step(5), Step(4)], state=FINISHED)
    view = PlayerView(told)
    view.position = 1
    view.play()
    assert (view.position, view.done) == (1, 2)
    view.close()


def test_closing_aborts(made):
    view = made()
    view.step()
    driver = view._driver
    view.close()
    assert driver.aborted
