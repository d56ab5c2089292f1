"""Large arrays beside PyTorch: ``python tests/bench/arrays.py`` (needs torch; a minute). 1e6
float32 elements a row, one thread.
"""

from __future__ import annotations

from beside import main


def elementwise(t, function, backward):
    """Forward, recording; or its backward alone."""
    t.manual_seed(0)
    inputs = [t.randn(1000, 1000, requires_grad=True) for _ in range(3)]
    return timed(t, inputs, lambda: function(t, *inputs), backward)


def timed(t, inputs, forward, backward, n=5):
    """What is timed: ``n`` forwards, or ``n`` backwards from graphs that were prepared."""
    held = []
    if not backward:

        def run():
            for _ in range(n):
                forward()

        return run, n
    seed = t.randn(*forward().shape)

    def prepare():
        held[:] = [forward() for _ in range(n)]

    def run():
        for root in held:
            for x in inputs:
                x.grad = None
            root.backward(seed)

    return run, n, prepare


FUNCTIONS = {
    "x*y+z": lambda t, x, y, z: x * y + z,
    "exp": lambda t, x, y, z: x.exp(),
    "tanh": lambda t, x, y, z: x.tanh(),
    "gelu": lambda t, x, y, z: t.nn.functional.gelu(x),
    "softmax rows": lambda t, x, y, z: t.softmax(x, -1),
    "layer norm": lambda t, x, y, z: t.nn.functional.layer_norm(x, (1000,), y[0], z[0]),
}


def matmul(t, n, backward):
    """A product of square matrices."""
    a, b = (t.randn(n, n, requires_grad=True) for _ in range(2))
    return timed(t, (a, b), lambda: a @ b, backward, 1)


def conv(t, backward):
    """A convolution 3 × 3 from 16 to 32 channels on 32 images of 32 × 32."""
    x = t.randn(32, 16, 32, 32, requires_grad=True)
    w, b = t.randn(32, 16, 3, 3, requires_grad=True), t.randn(32, requires_grad=True)
    return timed(t, (x, w, b), lambda: t.nn.functional.conv2d(x, w, b, padding=1), backward, 2)


ROWS = {}
for _way, _backward in (("forward", False), ("backward", True)):
    for _name, _function in FUNCTIONS.items():
        ROWS[f"{_name}, {_way}"] = lambda t, f=_function, b=_backward: elementwise(t, f, b)
    for _n in (512, 1024):
        ROWS[f"matmul {_n}, {_way}"] = lambda t, n=_n, b=_backward: matmul(t, n, b)
    ROWS[f"conv 3x3 16->32, {_way}"] = lambda t, b=_backward: conv(t, b)

if __name__ == "__main__":
    main(ROWS, __file__, repeats=31)
