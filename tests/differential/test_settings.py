"""Switches, elementwise Python functions and small questions, compared with PyTorch."""

import warnings

import pytest

import gradviz

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")

PROGRAMS = """
t.use_deterministic_algorithms(True, warn_only=True), t.get_deterministic_debug_mode()
t.use_deterministic_algorithms(True), t.are_deterministic_algorithms_enabled()
t.set_deterministic_debug_mode("error"), t.get_deterministic_debug_mode()
t.set_deterministic_debug_mode(0), t.get_deterministic_debug_mode()
t.set_deterministic_debug_mode(7)
t.set_deterministic_debug_mode("x")
t.set_deterministic_debug_mode(None)
t.use_deterministic_algorithms(1)
t.set_warn_always(True), t.is_warn_always_enabled(), t.set_warn_always(False)
t.set_float32_matmul_precision("high"), t.get_float32_matmul_precision()
t.set_float32_matmul_precision("highest"), t.get_float32_matmul_precision()
t.set_default_tensor_type(t.DoubleTensor), t.get_default_dtype()
t.set_default_tensor_type("torch.FloatTensor"), t.get_default_dtype()
t.set_default_tensor_type("torch.IntTensor")
t.set_default_tensor_type(t.float32)
t.set_num_interop_threads(0)
t.accelerator.is_available(), t.accelerator.current_accelerator(), t.accelerator.device_count()
t.accelerator.synchronize()
t.tensor([1, 2]).apply_(lambda v: v + 0.7)
t.ones(2, 3).t().apply_(lambda v: v * 2)
t.ones(2).apply_(lambda v: "a")
t.ones(2).apply_(3)
t.ones(2, requires_grad=True).apply_(abs)
t.arange(3.0).map_(t.ones(3), lambda a, b: a + b)
t.ones(2, 2).map_(t.arange(2.0), lambda a, b: a - b)
t.ones(2).map_(t.ones(3), lambda a, b: a)
t.ones(2).map_(t.ones(2, dtype=t.float64), lambda a, b: a)
t.ones(2).map_(3, lambda a, b: a)
t.ones(2).map2_(t.ones(2), t.ones(2), lambda a, b, c: a + b + c)
t.is_same_size(t.ones(2), t.ones(3)), t.ones(2).is_same_size(t.ones(2))
t.is_same_size(t.ones(2), 3)
t.ones(2).is_set_to(t.ones(2))
(lambda x: (x.is_set_to(x.view(2)), x.is_set_to(x[:1])))(t.ones(2))
t.ones(2).is_set_to(3)
t.randn(2, 3, 4, 5).to(memory_format=t.channels_last).dim_order(), t.ones(2, 3).t().dim_order()
t.ones(2).module_load(t.zeros(2))
t.ones(2).to(object())
t.ones(2).to("cpu", 3.5)
t.ones(2).to(t.float32, "cpu")
""".strip().splitlines()


def outcome(engine, text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return repr(eval(text, {"t": engine}))  # noqa: S307
    except Exception as error:
        return type(error).__name__, str(error).strip()


@pytest.fixture(autouse=True)
def _as_before():
    yield
    for engine in (torch, gradviz):
        engine.set_default_dtype(engine.float32)
        engine.use_deterministic_algorithms(False)
        engine.set_float32_matmul_precision("highest")


@pytest.mark.parametrize("text", PROGRAMS)
def test_as_in_pytorch(text):
    assert outcome(gradviz, text) == outcome(torch, text)


def test_compile_gives_the_model_back():
    """Not asked of PyTorch, whose compiler turns off the checks of its distributions."""
    model = gradviz.nn.Linear(1, 1)
    assert gradviz.compile(model, backend="eager") is model
    assert gradviz.compile(fullgraph=True)(model) is model
    with pytest.raises(AssertionError, match="A callable function is expected"):
        gradviz.compile(3)
