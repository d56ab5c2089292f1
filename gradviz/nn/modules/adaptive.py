"""Softmax over many classes: frequent ones in a short head, rare ones in clusters behind it."""

from __future__ import annotations

from collections import namedtuple

from ...ops.declare import FUNCTIONS
from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """``cutoffs``: where clusters of classes end; classes are numbered by falling frequency."""

    def __init__(
        self,
        in_features,
        n_classes,
        cutoffs,
        div_value=4.0,
        head_bias=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an "
                "increasing order, where each value is between "
                "1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.cutoffs = (
            in_features,
            n_classes,
            [*cutoffs, n_classes],
        )
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for k in range(self.n_clusters):
            inner = int(in_features // (div_value ** (k + 1)))
            size = self.cutoffs[k + 1] - self.cutoffs[k]
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, device=device, dtype=dtype),
                    Linear(inner, size, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self):
        """Draw new values."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def _bounds(self):
        return list(zip([0, *self.cutoffs[:-1]], self.cutoffs, strict=True))

    def forward(self, input_, target_):
        self._check(input_, target_)
        alone = target_.dim() == 0
        x, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if alone else (input_, target_)
        head = F.log_softmax(self.head(x), dim=1)
        out = head.new_zeros(x.size(0))
        for k, (low, high) in enumerate(self._bounds()):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            own = target.index_select(0, rows) - low
            if k == 0:
                found = head.index_select(0, rows).gather(1, own.unsqueeze(1))
            else:
                cluster = F.log_softmax(self.tail[k - 1](x.index_select(0, rows)), dim=1)
                start = head.index_select(0, rows)[:, self.shortlist_size + k - 1].unsqueeze(1)
                found = start + cluster.gather(1, own.unsqueeze(1))
            out = out.index_copy(0, rows, found.squeeze(1))
        out = out.squeeze(0) if alone else out
        return _ASMoutput(out, (-out).mean())

    def _check(self, input_, target_):
        if target_.dim() == 1:
            if input_.size(0) != target_.size(0):
                raise RuntimeError(
                    "Input and target should have the same size in the batch dimension."
                )
            if input_.dim() != 2:
                raise RuntimeError(
                    "1D target tensor expects 2D input tensors, but found inputs with size "
                    f"{input_.size()}"
                )
        elif target_.dim() == 0:
            if input_.dim() != 1:
                raise RuntimeError(
                    "0D target tensor expects 1D input tensors, but found inputs with size "
                    f"{input_.size()}"
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        low, high = int(target_.min()), int(target_.max())
        if low < 0 or high >= self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{low}, {high}] were found. "
            )

    def log_prob(self, input):
        """Log-probabilities of all classes: (N, n_classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for k in range(self.n_clusters):
            cluster = F.log_softmax(self.tail[k](input), dim=1)
            parts.append(cluster + head[:, self.shortlist_size + k].unsqueeze(1))
        return FUNCTIONS["cat"](parts, 1)

    def predict(self, input):
        """The likeliest class of each row."""
        return self.log_prob(input).argmax(dim=1)
