"""What an array on a GPU refuses, and what it counts."""

import numpy as np
import pytest

from gradviz.backend import DeviceArray, as_array, as_strided, contiguous, owner, pointer, upload


@pytest.fixture
def x(gpu):
    return upload(np.arange(6.0).reshape(2, 3), 0)


def test_numpys_functions_hand_over_to_the_device(x):
    for found in (np.exp(x), x + 1, np.sum(x, 0), np.concatenate([x, x]), np.linalg.norm(x), x[0]):
        assert isinstance(found, DeviceArray)
    assert np.maximum.reduce(x, 1, None, None, True).get().tolist() == [[2.0], [5.0]]
    assert np.add.reduce(x, None).get() == 15.0
    assert np.zeros((2,), np.int8, like=x).dtype == np.int8
    assert np.eye(2, dtype=np.float32, like=x).get().tolist() == [[1, 0], [0, 1]]


def test_nothing_reaches_the_host_unasked(x):
    for leak in (np.asarray, np.array, lambda a: np.stack([np.ones(3), a[0]])):
        with pytest.raises((TypeError, RuntimeError)):
            leak(x)
    with pytest.raises(RuntimeError, match="at least two devices, cpu and cuda:0"):
        np.ascontiguousarray(x)
    with pytest.raises(RuntimeError, match="cuda:0 and cpu"):
        x + np.ones(3)
    with pytest.raises(RuntimeError, match="cuda:0 and cpu"):
        x[np.asarray([0, 1])]
    with pytest.raises(RuntimeError, match="cuda:0 and cpu"):
        x[0] = np.ones(3)
    with pytest.raises(TypeError):
        range(x[0, 0])


def test_two_devices_do_not_mix(x):
    with pytest.raises(RuntimeError, match="cuda:0 and cuda:1"):
        x + upload(np.ones(3), 1)


def test_what_cupy_does_not_have_is_refused(x):
    with pytest.raises(NotImplementedError, match="CuPy has no geomspace"):
        np.geomspace(x[0], x[1] + 1)
    with pytest.raises(TypeError, match="CuPy's .*sum takes no"):
        x.sum(0, initial=0)
    with pytest.raises(NotImplementedError, match="multiply.at"):
        np.multiply.at(x, 0, 2.0)


def test_waits_are_counted(gpu, x):
    assert not gpu.synchronisations
    bool(x[0, 0] == 0), float(x[0, 1]), x.tolist(), x.get(), repr(x), x[1, 1].item()
    assert gpu.synchronisations == {"bool": 1, "item": 2, "tolist": 1, "copy": 1, "print": 1}
    x[x > 2], np.nonzero(x)  # how large they are is known only to the device
    assert (gpu.synchronisations["mask"], gpu.synchronisations["nonzero"]) == (1, 1)


def test_parts_are_views(x):
    first, corner = x[0], x[1, 2]
    first[...] = 7.0
    corner[...] = 9.0
    assert x.get().tolist() == [[7.0, 7.0, 7.0], [3.0, 4.0, 9.0]]
    assert owner(first).pointer == pointer(x) and first.base is not None and x.base is None
    window = as_strided(x, (2,), (24,))
    window[...] = 0.0
    assert x.get()[:, 0].tolist() == [0.0, 0.0]


def test_running_results_of_other_functions(x):
    y = upload(np.asarray([1.0, 3.0, 2.0, 5.0, 4.0]), 0)
    assert np.maximum.accumulate(y).get().tolist() == [1.0, 3.0, 3.0, 5.0, 5.0]
    assert np.maximum.reduce(y, 0, None, None, False, 9.0).get() == 9.0
    assert y.max(initial=9.0).get() == 9.0 and y.min(0, keepdims=True).get().tolist() == [1.0]
    assert np.minimum.reduce(y[:0], 0, None, None, True, 9.0).get().tolist() == [9.0]


def test_memory_is_counted_and_given_back(gpu):
    before = gpu.allocated[1]
    x = upload(np.zeros(1000), 1)
    y = x + 1
    assert gpu.allocated[1] - before == 16000 and gpu.peak[1] >= 16000
    del x, y
    assert gpu.allocated[1] == before


def test_results_stay_as_they_are_on_the_host():
    a = np.arange(6.0).reshape(2, 3)
    assert contiguous(a) is a and contiguous(a.T).flags.c_contiguous
    assert as_array(a) is a and as_array(np.float32(1)).shape == ()
