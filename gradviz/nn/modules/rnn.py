"""Recurrent networks as modules."""

from __future__ import annotations

import math
import numbers
import warnings

from ...ops.declare import FUNCTIONS
from .. import init
from ..functional import recurrent
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

empty, zeros = FUNCTIONS["empty"], FUNCTIONS["zeros"]


def apply_permutation(tensor, permutation, dim=1):
    """The batch in another order."""
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """What RNN, LSTM and GRU share: weights by layer and direction, checks, packed sequences."""

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        _check_sizes(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.mode, self.input_size, self.hidden_size, self.num_layers = (
            mode,
            input_size,
            hidden_size,
            num_layers,
        )
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._all_weights = []
        gates = {"LSTM": 4, "GRU": 3}.get(mode, 1) * hidden_size
        for layer in range(num_layers):
            for reverse in range(2 if bidirectional else 1):
                self._add_weights(layer, reverse, gates, device, dtype)
        self.reset_parameters()

    def _add_weights(self, layer, reverse, gates, device, dtype):
        directions = 2 if self.bidirectional else 1
        hidden = self.proj_size or self.hidden_size
        below = self.input_size if layer == 0 else hidden * directions
        end = f"_l{layer}{'_reverse' if reverse else ''}"
        shapes = [("weight_ih", (gates, below)), ("weight_hh", (gates, hidden))]
        if self.bias:
            shapes += [("bias_ih", (gates,)), ("bias_hh", (gates,))]
        if self.proj_size:
            shapes.append(("weight_hr", (self.proj_size, self.hidden_size)))
        for name, shape in shapes:
            setattr(self, name + end, Parameter(empty(*shape, device=device, dtype=dtype)))
        self._all_weights.append([name + end for name, _ in shapes])

    def reset_parameters(self):
        """Uniform numbers within 1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self):
        """Nothing to do here: accepted for compatibility."""

    @property
    def all_weights(self):
        """The weights, one list a layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def extra_repr(self):
        out = f"{self.input_size}, {self.hidden_size}"
        for name, plain in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0.0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            if value != plain:
                out += f", {name}={value}"
        return out

    # ------------------------------------------------------------ checks
    def check_input(self, input, batch_sizes):
        """RuntimeError for an input of wrong size."""
        wanted = 2 if batch_sizes is not None else 3
        if input.dim() != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.size(-1)}"
            )

    def _hidden_shape(self, input, batch_sizes, size):
        batch = (
            int(batch_sizes[0])
            if batch_sizes is not None
            else input.size(0 if self.batch_first else 1)
        )
        return (self.num_layers * (2 if self.bidirectional else 1), batch, size)

    def check_hidden_size(self, hx, expected, msg="Expected hidden size {}, got {}"):
        """RuntimeError for a hidden state of wrong size."""
        if tuple(hx.size()) != expected:
            raise RuntimeError(msg.format(expected, list(hx.size())))

    # ------------------------------------------------------------ running
    def _start(self, input, batch_sizes, names):
        """Zeros of the right sizes."""
        sizes = {"h": self.proj_size or self.hidden_size, "c": self.hidden_size}
        return tuple(
            zeros(
                *self._hidden_shape(input, batch_sizes, sizes[n]),
                device=input.device,
                dtype=input.dtype,
            )
            for n in names
        )

    def _weights(self):
        rows = []
        for names in self._all_weights:
            own = [getattr(self, n) for n in names]
            biases = own[2:4] if self.bias else [None, None]
            rows.append((*own[:2], *biases, own[-1] if self.proj_size else None))
        return rows

    def _run(self, input, hidden, batch_sizes):
        sizes = None if batch_sizes is None else batch_sizes.tolist()
        data = input.transpose(0, 1) if self.batch_first and sizes is None else input
        out, h, c = recurrent.layers(
            self.mode,
            data,
            hidden,
            self._weights(),
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            sizes,
        )
        if self.batch_first and sizes is None:
            # PyTorch turns the result of all but the LSTM in place
            out = out.transpose(0, 1) if self.mode == "LSTM" else out.transpose_(0, 1)
        return out, h, c

    def _shown(self):
        return "RNN" if self.mode.startswith("RNN") else self.mode

    def _batched(self, input, hx):
        """Input and hidden state with a batch dimension, and whether they had one."""
        if input.dim() not in (2, 3):
            end = "tensor instead" if self._shown() == "RNN" else "instead"
            raise ValueError(
                f"{self._shown()}: Expected input to be 2D or 3D, got {input.dim()}D {end}"
            )
        batched = input.dim() == 3
        self._check_hidden_dims(hx, batched)
        if batched:
            return input, hx, True
        hx = None if hx is None else tuple(h.unsqueeze(1) for h in hx)
        return input.unsqueeze(0 if self.batch_first else 1), hx, False

    def _check_hidden_dims(self, hx, batched):
        if hx is None:
            return
        dims = [h.dim() for h in hx]
        wanted, kind = (3, "batched 3-D") if batched else (2, "unbatched 2-D")
        if any(d != wanted for d in dims):
            if len(dims) == 2:
                raise RuntimeError(
                    f"For {kind} input, hx and cx should also be {wanted}-D but got ({dims[0]}-D, "
                    f"{dims[1]}-D) tensors"
                )
            raise RuntimeError(
                f"For {kind} input, hx should also be {wanted}-D but got {dims[0]}-D tensor"
            )

    def _forward(self, input, hx, names):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx, names)
        input, hx, batched = self._batched(input, hx)
        self.check_input(input, None)
        hidden = self._start(input, None, names) if hx is None else hx
        self._check_hidden(hidden, input, None)
        out, h, c = self._run(input, hidden, None)
        if batched:
            return out, h, c
        return (
            out.squeeze(0 if self.batch_first else 1),
            h.squeeze(1),
            None if c is None else c.squeeze(1),
        )

    def _forward_packed(self, packed, hx, names):
        data, sizes, order, back = packed
        self.check_input(data, sizes)
        hidden = self._start(data, sizes, names) if hx is None else hx
        if hx is not None and order is not None:
            hidden = tuple(apply_permutation(h, order) for h in hidden)
        self._check_hidden(hidden, data, sizes)
        out, h, c = self._run(data, hidden, sizes)
        if back is not None:
            h, c = apply_permutation(h, back), None if c is None else apply_permutation(c, back)
        return PackedSequence(out, sizes, order, back), h, c

    def _check_hidden(self, hidden, input, batch_sizes):
        self.check_hidden_size(hidden[0], self._hidden_shape(input, batch_sizes, self.hidden_size))


def _check_sizes(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size):
    if (
        not isinstance(dropout, numbers.Number)
        or not 0 <= dropout <= 1
        or isinstance(dropout, bool)
    ):
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an "
            "element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            "expects num_layers greater than 1, "
            f"but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(value, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(value, int):
            raise TypeError(f"{name} should be of type int, got: {type(value).__name__}")
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNN(RNNBase):
    """``h ← tanh(W·x + U·h + b)``, or with ReLU."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        device=None,
        dtype=None,
        **kwargs,
    ):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    def forward(self, input, hx=None):
        out, h, _ = self._forward(input, None if hx is None else (hx,), "h")
        return out, h


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input, hx=None):
        out, h, _ = self._forward(input, None if hx is None else (hx,), "h")
        return out, h


class LSTM(RNNBase):
    """Long short-term memory: hidden state and cell state."""

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def _check_hidden(self, hidden, input, batch_sizes):
        sizes = (self.proj_size or self.hidden_size, self.hidden_size)
        for k, (h, size) in enumerate(zip(hidden, sizes, strict=True)):
            self.check_hidden_size(
                h,
                self._hidden_shape(input, batch_sizes, size),
                f"Expected hidden[{k}] size {{}}, got {{}}",
            )

    def forward(self, input, hx=None):
        out, h, c = self._forward(input, hx, "hc")
        return out, (h, c)


# ---------------------------------------------------------------- cells
class RNNCellBase(Module):
    """What the cells share."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(empty(gates, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(empty(gates, hidden_size, device=device, dtype=dtype))
        self.register_parameter(
            "bias_ih", Parameter(empty(gates, device=device, dtype=dtype)) if bias else None
        )
        self.register_parameter(
            "bias_hh", Parameter(empty(gates, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self):
        """Uniform numbers within 1/√hidden_size."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        out = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            out += f", bias={self.bias}"
        kind = getattr(self, "nonlinearity", "tanh")
        return out if kind == "tanh" else f"{out}, nonlinearity={kind}"

    def _batched(self, input, hx):
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for k, h in enumerate(hx or ()):
            if h.dim() not in (1, 2):
                which = f"hx[{k}]" if name == "LSTMCell" else "hidden"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {h.dim()}D instead")
        alone = input.dim() == 1
        input = input.unsqueeze(0) if alone else input
        if hx is None:
            count = 2 if name == "LSTMCell" else 1
            hx = (
                zeros(input.size(0), self.hidden_size, device=input.device, dtype=input.dtype),
            ) * count
        elif alone:
            hx = tuple(h.unsqueeze(0) for h in hx)
        self._check(input, hx)
        return input, hx, alone

    def _check(self, input, hx):
        if input.size(1) != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.size(1)} expected {self.input_size}"
            )
        for h in hx:
            if h.size(0) != input.size(0):
                raise RuntimeError(
                    f"Input batch size {input.size(0)} doesn't match hidden0 batch size {h.size(0)}"
                )
            if h.size(1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden0 has inconsistent hidden_size: got {h.size(1)}, expected "
                    f"{self.hidden_size}"
                )

    def _step(self, cell, input, hx):
        return cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class RNNCell(RNNCellBase):
    """One step of an RNN."""

    def __init__(
        self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None
    ):
        super().__init__(input_size, hidden_size, bias, 1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        input, hx, alone = self._batched(input, None if hx is None else (hx,))
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        cell = recurrent.rnn_tanh_cell if self.nonlinearity == "tanh" else recurrent.rnn_relu_cell
        out = self._step(cell, input, hx[0])
        return out.squeeze(0) if alone else out


class LSTMCell(RNNCellBase):
    """One step of an LSTM."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        input, hx, alone = self._batched(input, hx)
        out = self._step(recurrent.lstm_cell, input, hx)
        return tuple(o.squeeze(0) for o in out) if alone else out


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device=device, dtype=dtype)

    def forward(self, input, hx=None):
        input, hx, alone = self._batched(input, None if hx is None else (hx,))
        out = self._step(recurrent.gru_cell, input, hx[0])
        return out.squeeze(0) if alone else out
