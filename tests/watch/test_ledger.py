"""The ledger: runs of accumulation, stale gradients, clips that come too late."""

from gradviz.watch.ledger import LEAVES, Ledger


def sweep(ledger, *leaves, fresh=True, serial=None):
    ledger.begin_sweep(serial or ledger.order, (), "backward", False, False, (), (), ())
    for leaf in leaves:
        ledger.accumulated(leaf, fresh)
    ledger.end_sweep()


def change(ledger, leaf):
    ledger.changed(ledger.add("bump", leaf, (), "step"))


def test_a_clean_loop_has_no_stale_gradient():
    ledger = Ledger()
    for _ in range(3):
        sweep(ledger, 1)
        change(ledger, 1)
    assert ledger.leaf(1).stale == [] and len(ledger.leaf(1).run) == 1 and ledger.leaf(1).total == 3


def test_a_gradient_that_two_steps_use_is_stale():
    ledger = Ledger()
    sweep(ledger, 1)
    change(ledger, 1)
    sweep(ledger, 1, fresh=False)
    assert ledger.leaf(1).stale == []
    change(ledger, 1)
    assert len(ledger.leaf(1).stale) == 1


def test_a_surplus_gradient_that_is_cleared_is_not_stale():
    ledger = Ledger()
    sweep(ledger, 1)
    change(ledger, 1)
    sweep(ledger, 1, fresh=False)
    sweep(ledger, 1, fresh=True)
    change(ledger, 1)
    assert ledger.leaf(1).stale == []


def test_zeroing_in_place_clears():
    ledger = Ledger()
    sweep(ledger, 1)
    change(ledger, 1)
    ledger.grad_changed(1, ledger.add("bump", 9, (), "zero_"))
    sweep(ledger, 1, fresh=False)
    change(ledger, 1)
    assert ledger.leaf(1).stale == []


def test_a_clip_after_the_step_is_late():
    ledger = Ledger()
    sweep(ledger, 1)
    ledger.grad_changed(1, ledger.add("bump", 9, (), "clip_grad_norm_"))
    assert ledger.leaf(1).late_clips == []
    change(ledger, 1)
    ledger.grad_changed(1, ledger.add("bump", 9, (), "clip_grad_norm_"))
    assert len(ledger.leaf(1).late_clips) == 1


def test_epochs_count_first_order_sweeps():
    ledger = Ledger()
    sweep(ledger, 1, serial=10)
    ledger.begin_sweep(20, (), "grad", True, True, (), (), ())
    ledger.end_sweep()
    sweep(ledger, 1, serial=30)
    assert [ledger.epoch(serial) for serial in (5, 15, 25, 35)] == [0, 1, 1, 2]


def test_sweeps_by_number():
    ledger = Ledger()
    for _ in range(5):
        sweep(ledger, 1)
    assert ledger.sweep(3).number == 3 and ledger.sweep(9) is None
    ledger.begin_sweep(1, (), "backward", False, False, (7,), (), ())
    ledger.end_sweep(RuntimeError("no"))
    assert ledger.sweeps[-1].error == "no" and 7 not in ledger.swept_roots()


def test_nested_sweeps_end_one_by_one():
    ledger = Ledger()
    outer = ledger.begin_sweep(1, (), "backward", False, False, (), (), ())
    ledger.begin_sweep(2, (), "backward", False, False, (), (), ())
    ledger.end_sweep()
    ledger.accumulated(5, True)
    assert ledger.current is outer and outer.leaves == {5}
    ledger.end_sweep()
    ledger.end_sweep()
    assert ledger.current is None


def test_steps_of_a_loop_share_their_leaves():
    ledger = Ledger()
    for _ in range(3):
        sweep(ledger, 1, 2)
    assert ledger.sweeps[0].leaves is ledger.sweeps[2].leaves


def test_the_ledger_is_bounded():
    ledger = Ledger()
    sweep(ledger, 1)
    for id in range(2, LEAVES + 10):
        ledger.leaf(id)
        ledger.leaf(1)
    assert len(ledger.leaves) <= LEAVES and ledger.leaves[1].total == 1
