"""Sequences of different lengths, packed into one tensor step by step."""

from __future__ import annotations

from collections import namedtuple

from ...backend import beside, xp
from ...engine.dispatch import Tensor, wrap
from ...engine.dtypes import scalar_name
from ...ops.declare import FUNCTIONS


class PackedSequence(
    namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])
):
    """``data``: all steps one after the other, longest sequence first; ``batch_sizes``: how many
    sequences reach each step."""

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, data):
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def to(self, *args, **kwargs):
        """The same sequence with ``data.to(…)``."""
        return self._with(self.data.to(*args, **kwargs))

    def cpu(self, *args, **kwargs):
        """The same sequence on the CPU."""
        return self._with(self.data.cpu())

    def float(self):
        """In float32."""
        return self._with(self.data.float())

    def double(self):
        """In float64."""
        return self._with(self.data.double())

    @property
    def is_cuda(self):
        return self.data.is_cuda

    def is_pinned(self):
        """Whether ``data`` is in pinned memory."""
        return self.data.is_pinned()


def invert_permutation(permutation):
    """The permutation that undoes ``permutation``."""
    if permutation is None:
        return None
    out = xp.empty_like(permutation._a)
    out[permutation._a] = xp.arange(permutation.numel(), like=out)
    return wrap(out)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack a padded batch (T, B, …), or (B, T, …) with ``batch_first``."""
    if not isinstance(lengths, Tensor):
        lengths = FUNCTIONS["as_tensor"](lengths, device="cpu")
    if not lengths.is_cpu or lengths.dim() != 1:
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.dim()}D {lengths.device} {scalar_name(lengths.dtype)} tensor"
        )
    sizes = lengths._a.astype(xp.int64)
    sorted_indices = None
    if not enforce_sorted:
        order = xp.argsort(-sizes, kind="stable")
        sizes = sizes[order]
        sorted_indices = wrap(beside(order.astype(xp.int64), input._a))
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    batch = input.shape[0 if batch_first else 1]
    if sizes.size != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {sizes.size} "
            f"(batch_size={batch})"
        )
    if sizes.size and sizes.min() <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (xp.diff(sizes) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
            "requirement if you do not need "
            "ONNX exportability."
        )
    if batch_first:
        input = input.transpose(0, 1)
    counts = [int((sizes > t).sum()) for t in range(int(sizes[0]))]
    data = FUNCTIONS["cat"]([input[t, :n] for t, n in enumerate(counts)])
    return PackedSequence(data, wrap(xp.asarray(counts, xp.int64)), sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded batch and the lengths of a packed sequence."""
    counts = sequence.batch_sizes.tolist()
    steps = len(counts)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in "
                "input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    rows, start = [], 0
    for n in counts:
        rows.append(_filled(sequence.data[start : start + n], counts[0], padding_value))
        start += n
    rows += [sequence.data.new_full((counts[0], *sequence.data.shape[1:]), padding_value)] * (
        steps - len(counts)
    )
    padded = FUNCTIONS["stack"](rows)
    lengths = wrap(xp.asarray([sum(n > k for n in counts) for k in range(counts[0])], xp.int64))
    if batch_first:
        padded = padded.transpose(0, 1)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


def _filled(rows, count, value):
    missing = count - rows.shape[0]
    if not missing:
        return rows
    return FUNCTIONS["cat"]([rows, rows.new_full((missing, *rows.shape[1:]), value)])


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences (Tᵢ, …) as one batch, filled up to the longest."""
    if not isinstance(sequences, (list, tuple, Tensor)):
        sequences = tuple(sequences) if hasattr(sequences, "__iter__") else _refuse(sequences)
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if not len(sequences):
        raise RuntimeError("received an empty list of sequences")
    for k, s in enumerate(sequences):
        if not isinstance(s, Tensor):
            raise TypeError(
                f"expected Tensor as element {k} in argument 0, but got {type(s).__name__}"
            )
    longest = max(s.shape[0] for s in sequences)
    rows = []
    for s in sequences:
        missing = longest - s.shape[0]
        if missing:
            fill = s.new_full((missing, *s.shape[1:]), padding_value)
            s = FUNCTIONS["cat"]([s, fill] if padding_side == "right" else [fill, s])
        rows.append(s)
    return FUNCTIONS["stack"](rows, 0 if batch_first else 1)


def _refuse(sequences):
    raise RuntimeError(
        "pad_sequence: Expected iterable for input sequences, but got arg of type: "
        f"{type(sequences)}"
    )


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded batch."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(padded_sequences, lengths.tolist(), strict=True)]


def pack_sequence(sequences, enforce_sorted=True):
    """Sequences of different lengths, packed."""
    lengths = FUNCTIONS["as_tensor"]([s.size(0) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a packed one."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
