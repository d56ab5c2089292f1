"""Recurrent networks: one step of a cell, and layers of them over sequences."""

from __future__ import annotations

from ...engine.dispatch import Tensor
from ...engine.modes import local, state
from ...ops.declare import FUNCTIONS, public
from ...ops.lower import lowered
from .basic import dropout, linear


def _parts(gates, n):
    return gates.unsafe_chunk(n, 1) if hasattr(Tensor, "unsafe_chunk") else gates.chunk(n, 1)


# ---------------------------------------------------------------- one step, from what the input
# and the hidden state give
def _tanh_step(given, hidden, w_hh, b_hh):
    return (linear(hidden[0], w_hh, b_hh) + given).tanh(), None


def _relu_step(given, hidden, w_hh, b_hh):
    return (linear(hidden[0], w_hh, b_hh) + given).relu(), None


def _lstm_step(given, hidden, w_hh, b_hh):
    i, f, g, o = _parts(linear(hidden[0], w_hh, b_hh) + given, 4)
    cell = f.sigmoid() * hidden[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru_step(given, hidden, w_hh, b_hh):
    own, new = _parts(linear(hidden[0], w_hh, b_hh), 3), _parts(given, 3)
    reset = (own[0] + new[0]).sigmoid()
    keep = (own[1] + new[1]).sigmoid()
    fresh = (new[2] + own[2] * reset).tanh()
    return (hidden[0] - fresh) * keep + fresh, None


STEPS = {"RNN_TANH": _tanh_step, "RNN_RELU": _relu_step, "LSTM": _lstm_step, "GRU": _gru_step}


def _cell(mode):
    step = STEPS[mode]

    def cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        hidden = tuple(hx) if mode == "LSTM" else (hx,)
        h, c = step(linear(input, w_ih, b_ih), hidden, w_hh, b_hh)
        return (h, c) if mode == "LSTM" else h

    cell.__doc__ = f"One step of a {mode} cell."
    return cell


rnn_tanh_cell, rnn_relu_cell, lstm_cell, gru_cell = (
    _cell(m) for m in ("RNN_TANH", "RNN_RELU", "LSTM", "GRU")
)


# ---------------------------------------------------------------- layers
def _project(h, w_hr):
    return h if w_hr is None else linear(h, w_hr)


def _run(step, given, hidden, weights, reverse):
    """Steps (one tensor each) through one layer in one direction: (outputs, hidden). Batches may
    shrink, longest first."""
    w_hh, b_hh, w_hr = weights
    start, done, out = hidden, [], [None] * len(given)
    now = tuple(
        None
        if s is None
        else s[: given[-1].shape[0]]
        if reverse and s.shape[0] != given[-1].shape[0]
        else s
        for s in start
    )
    for t in reversed(range(len(given))) if reverse else range(len(given)):
        count = given[t].shape[0]
        had = now[0].shape[0]
        if count < had:
            done.append(tuple(None if s is None else s[count:] for s in now))
            now = tuple(None if s is None else s[:count] for s in now)
        elif count > had:
            now = tuple(
                None if s is None else FUNCTIONS["cat"]([s, first[had:count]])
                for s, first in zip(now, start, strict=True)
            )
        h, c = step(given[t], now, w_hh, b_hh)
        h = _project(h, w_hr)
        now = (h, c)
        out[t] = h
    if done:
        pieces = [now, *reversed(done)]
        now = tuple(
            None if now[k] is None else FUNCTIONS["cat"]([p[k] for p in pieces]) for k in range(2)
        )
    return out, now


def layers(mode, input, hidden, weights, num_layers, p, training, bidirectional, batch_sizes=None):
    """Layers over a sequence (T, B, …) or a packed one (``batch_sizes``): (output, h, c).

    ``hidden``: (h,) or (h, c), each (layers · directions, B, …). ``weights``: for every layer and
    direction
    (w_ih, w_hh, b_ih, b_hh, w_hr), None where absent.
    """
    if mode == "LSTM" and state.special and local.autocast is not None:
        input, *hidden = lowered(input, *hidden)
        weights = [lowered(*own) for own in weights]
    step, directions = STEPS[mode], 2 if bidirectional else 1
    final = []
    for layer in range(num_layers):
        sides = []
        for d in range(directions):
            k = layer * directions + d
            w_ih, w_hh, b_ih, b_hh, w_hr = weights[k]
            given = linear(input, w_ih, b_ih)
            rows = given.unbind(0) if batch_sizes is None else given.split(batch_sizes)
            first = tuple(h[k] for h in hidden)
            first = first if len(first) == 2 else (first[0], None)
            out, last = _run(step, rows, first, (w_hh, b_hh, w_hr), d == 1)
            sides.append(FUNCTIONS["stack"](out) if batch_sizes is None else FUNCTIONS["cat"](out))
            final.append(last)
        input = sides[0] if directions == 1 else FUNCTIONS["cat"](sides, -1)
        if p > 0 and layer < num_layers - 1:
            input = dropout(input, p, training)
    h = FUNCTIONS["stack"]([f[0] for f in final])
    return input, h, FUNCTIONS["stack"]([f[1] for f in final]) if mode == "LSTM" else None


def _grouped(flat, has_biases, count, projected):
    size = 2 + 2 * has_biases + projected
    out = []
    for k in range(count):
        part = list(flat[k * size : (k + 1) * size])
        w_ih, w_hh = part[:2]
        b_ih, b_hh = part[2:4] if has_biases else (None, None)
        out.append((w_ih, w_hh, b_ih, b_hh, part[-1] if projected else None))
    return out


def _public(mode):
    """``gradviz.lstm(input, hx, params, …)`` and its packed form ``(data, batch_sizes, hx, params,
    …)``."""

    def function(*args):
        packed = isinstance(args[1], Tensor) and args[1]._a.dtype.kind == "i"
        if packed:
            data, sizes, hx, params, has_biases, num_layers, p, training, bidirectional = args
            sizes, batch_first = sizes.tolist(), False
        else:
            data, hx, params, has_biases, num_layers, p, training, bidirectional, batch_first = args
            sizes = None
        hidden = tuple(hx) if mode == "LSTM" else (hx,)
        count = num_layers * (2 if bidirectional else 1)
        projected = mode == "LSTM" and len(params) == count * (3 + 2 * has_biases)
        weights = _grouped(params, has_biases, count, projected)
        data = data.transpose(0, 1) if batch_first else data
        out, h, c = layers(
            mode, data, hidden, weights, num_layers, p, training, bidirectional, sizes
        )
        if batch_first:
            out = out.transpose(0, 1) if mode == "LSTM" else out.transpose_(0, 1)
        return (out, h, c) if mode == "LSTM" else (out, h)

    function.__doc__ = f"Layers of {mode} over a sequence."
    return function


for _name, _mode in (
    ("lstm", "LSTM"),
    ("gru", "GRU"),
    ("rnn_tanh", "RNN_TANH"),
    ("rnn_relu", "RNN_RELU"),
):
    public(_name, _public(_mode))
for _name, _f in (
    ("lstm_cell", lstm_cell),
    ("gru_cell", gru_cell),
    ("rnn_tanh_cell", rnn_tanh_cell),
    ("rnn_relu_cell", rnn_relu_cell),
):
    public(_name, _f)
