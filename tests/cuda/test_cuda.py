"""``torch.cuda`` and ``device="cuda"`` on the strict double of a GPU, and without one."""

import copy
import warnings

import pytest

import gradviz as torch
from gradviz.backend import accelerator, twin


def test_without_a_gpu():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
    assert torch.cuda.memory_allocated() == 0 and torch.cuda.memory_stats() == {}
    torch.cuda.manual_seed_all(0)
    torch.cuda.empty_cache()
    for ask in (
        lambda: torch.ones(2, device="cuda"),
        lambda: torch.ones(2).cuda(),
        lambda: torch.nn.Linear(1, 1).to("cuda:0"),
        torch.cuda.current_device,
        torch.cuda.synchronize,
        torch.cuda.Stream,
    ):
        with pytest.raises((AssertionError, RuntimeError)) as caught:
            ask()
        assert "is_available()" in caught.value.__notes__[0]


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(accelerator._found, "gpu", None)
    for why, kind, words, advice in (
        (accelerator.NO_CUPY, AssertionError, "Torch not compiled with CUDA", "cuda12"),
        (accelerator.NO_GPU, RuntimeError, "Found no NVIDIA driver on your system", "nvidia-smi"),
    ):
        monkeypatch.setattr(accelerator._found, "why", why)
        with pytest.raises(kind, match=words) as caught:
            torch.zeros(1, device="cuda")
        assert advice in caught.value.__notes__[0]


def test_to_and_back(gpu):
    x = torch.arange(6.0).reshape(2, 3)
    y = x.cuda()
    assert y.device == torch.device("cuda", 0) and y.is_cuda and y.get_device() == 0
    assert y.to("cuda") is y and y.cuda(0) is y and y.cpu().cpu().tolist() == x.tolist()
    assert x.cpu() is x and y.cuda(1).device.index == 1 and x.to(y).is_cuda
    assert y.to("cpu", torch.float64).dtype is torch.float64
    assert x.pin_memory().to("cuda", non_blocking=True).is_cuda
    assert torch.zeros_like(y).is_cuda and torch.zeros_like(y, device="cpu").is_cpu
    assert y.new_zeros(2).is_cuda and y.new_full((2,), 1.0).is_cuda and y.new_tensor([1]).is_cuda
    assert torch.tensor(y.tolist(), device=y.device).equal(y)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        x.to("cuda:2")


def test_gradients_cross_devices(gpu):
    x = torch.ones(3, requires_grad=True)
    y = x.to("cuda") * torch.arange(3.0, device="cuda")
    assert y.grad_fn.next_functions[0][0].name() == "ToCopyBackward0"
    y.sum().backward()
    assert x.grad.is_cpu and x.grad.tolist() == [0.0, 1.0, 2.0]
    s = torch.tensor(2.0, requires_grad=True)  # a number on the CPU goes with any tensor
    (s * s * torch.ones(2, device="cuda")).sum().backward()
    assert s.grad.is_cpu and s.grad.item() == 8.0


def test_two_devices_do_not_mix(gpu):
    x, y = torch.ones(3, device="cuda"), torch.ones(3)
    words = "Expected all tensors to be on the same device, but found at least two devices, "
    with pytest.raises(RuntimeError, match=words + "cuda:0 and cpu!"):
        x + y
    with pytest.raises(RuntimeError, match=words):
        torch.nn.Linear(3, 3)(x)
    with pytest.raises(RuntimeError, match=words + "cuda:0 and cuda:1!"):
        x * torch.ones(3, device="cuda:1")
    with pytest.raises(RuntimeError, match="gradient located on device"):
        x.grad = y


def test_what_waits_is_counted(gpu):
    x = torch.ones(3, device="cuda", requires_grad=True)
    ((x * 2).exp().sum() / 3).backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
    assert torch.cuda.synchronizing_calls() == {}
    x.sum().item(), bool(x[0] > 0), x.tolist(), x.cpu(), str(x)
    assert torch.cuda.synchronizing_calls() == {"item": 1, "bool": 1, "tolist": 1, "copy": 2}
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        x.detach().numpy()


def test_waiting_can_be_refused(gpu):
    x = torch.ones(1, device="cuda")
    try:
        torch.cuda.set_sync_debug_mode("error")
        with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
            x.item()
        torch.cuda.set_sync_debug_mode(1)
        with pytest.warns(UserWarning, match="called a synchronizing CUDA operation"):
            x.item()
    finally:
        torch.cuda.set_sync_debug_mode(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.item()


def test_where_new_tensors_are_made(gpu):
    with torch.device("cuda"):
        assert torch.ones(2).is_cuda and torch.tensor([1]).is_cuda and torch.rand(2).is_cuda
        assert torch.arange(3).is_cuda and torch.eye(2).is_cuda and torch.linspace(0, 1, 3).is_cuda
        assert torch.nn.Linear(2, 2).weight.is_cuda
    assert torch.ones(2).is_cpu
    torch.set_default_device("cuda")
    try:
        assert torch.get_default_device() == torch.device("cuda", 0) and torch.ones(1).is_cuda
    finally:
        torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu")


def test_devices(gpu):
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2
    assert torch.cuda.current_device() == 0
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1 and torch.ones(1, device="cuda").get_device() == 1
    with torch.cuda.device_of(torch.ones(1, device="cuda:1")):
        assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0
    torch.cuda.set_device("cuda:1")
    assert torch.cuda.current_device() == 1
    assert "double" in torch.cuda.get_device_name(0)
    assert len(torch.cuda.get_device_capability()) == 2
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.synchronize("cpu")


def test_streams_and_events(gpu):
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() is side
        first.record()
        torch.ones(2, device="cuda").exp()
        last.record()
    assert torch.cuda.current_stream() is not side
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    assert first.query() and first.elapsed_time(last) >= 0.0
    with pytest.raises(ValueError, match="enable_timing=True"):
        torch.cuda.Event().elapsed_time(last)
    with pytest.raises(ValueError, match="must be recorded"):
        first.elapsed_time(torch.cuda.Event(enable_timing=True))


def test_memory():
    with twin.installed(memory=1 << 20):
        x = torch.zeros(1000, device="cuda")
        used = torch.cuda.memory_allocated()
        assert used >= 4000 <= torch.cuda.max_memory_allocated()
        y = x.repeat(4)
        del y
        assert torch.cuda.memory_allocated() == used < torch.cuda.max_memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        assert torch.cuda.max_memory_allocated() == used
        assert torch.cuda.memory_stats()["allocated_bytes.all.current"] == used
        assert "Allocated memory" in torch.cuda.memory_summary()
        free, total = torch.cuda.mem_get_info()
        assert free == total - used
        with pytest.raises(torch.cuda.OutOfMemoryError, match="Tried to allocate 4.00 MiB") as e:
            torch.zeros(1 << 20, device="cuda")
        assert isinstance(e.value, RuntimeError) and torch.OutOfMemoryError is type(e.value)
        assert torch.cuda.memory_allocated() == used


def test_random_numbers_are_reproducible_on_each_device(gpu):
    torch.manual_seed(3)
    first = [torch.randn(20, device="cuda"), torch.rand(3, device="cuda:1")]
    here = torch.rand(3)
    torch.manual_seed(3)
    assert torch.equal(torch.rand(3), here)  # the CPU's stream does not move with the GPU's
    assert torch.equal(torch.randn(20, device="cuda"), first[0])
    assert torch.equal(torch.rand(3, device="cuda:1"), first[1])
    torch.cuda.manual_seed(3)
    state = torch.cuda.get_rng_state()
    again = torch.randn(4, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.randn(4, device="cuda"), again)
    g = torch.Generator("cuda").manual_seed(1)
    assert g.device == torch.device("cuda", 0)
    assert torch.empty(3, device="cuda").uniform_(generator=g).is_cuda
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found"):
        torch.rand(2, device="cuda", generator=torch.Generator())
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found"):
        torch.rand(2, generator=g)


def test_a_network_learns_on_it(gpu):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(8, 3)
    ).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    x = torch.randn(16, 4, device="cuda")
    target = x.argmax(1) % 3
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    assert torch.cuda.synchronizing_calls() == {}
    assert losses[-1].item() < 0.7 * losses[0].item()
    assert all(p.grad.is_cuda and v["exp_avg"].is_cuda for p, v in optimizer.state.items())


def test_mixed_precision(gpu):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", init_scale=8.0, growth_interval=2)
    x = torch.ones(3, 4, device="cuda")
    for _ in range(2):
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            out = model(x)
            assert out.dtype is torch.float16 and torch.is_autocast_enabled("cuda")
            assert torch.nn.Linear(4, 2)(torch.ones(3, 4)).dtype is torch.float32  # not on the CPU
        scaler.scale(out.float().pow(2).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
    assert torch.cuda.synchronizing_calls() == {"item": 2}  # one a step: whether to take it
    assert scaler.get_scale() == 16.0
    scaler.scale(model(x).sum() * float("inf")).backward()
    before = copy.deepcopy(model.state_dict())
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 8.0
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())
    assert torch.cuda.amp.autocast().fast_dtype is torch.float16
    assert torch.cuda.amp.GradScaler().is_enabled()
