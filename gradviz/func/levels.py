"""The vmaps that run, one inside the other: how many slices, and what random numbers they get."""

from __future__ import annotations

from ..engine.modes import local
from .batched import batched, split

_ERROR = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)
_SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an "
    "issue with functorch"
)
_UNBATCHED = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear "
    "like same randomness. If this is necessary for your usage, please file an issue with "
    "functorch."
)
_BY_PROBABILITY = frozenset(("bernoulli", "normal", "multinomial", "poisson", "binomial"))


def check_randomness(randomness):
    """RuntimeError unless it is one of the three."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )


class running:
    """Inside the block ``level`` is the innermost vmap."""

    __slots__ = ("before", "level")

    def __init__(self, level):
        self.level = level

    def __enter__(self):
        self.before, local.batch = local.batch, self.level
        return self.level

    def __exit__(self, *_):
        local.batch = self.before


class Level:
    """One vmap."""

    older = False

    def __init__(self, size, randomness):
        self.size, self.randomness, self.outer = size, randomness, local.batch
        self.depth = local.transforms

    def apply(self, cls, args):
        """What answers for a user's Function, None where it runs as it is."""
        from .batch_functions import apply

        return apply(cls, args)

    def drawing(self, generator):
        """Random numbers are going to be drawn; RuntimeError where that is not wanted."""
        if self.randomness == "error":
            raise RuntimeError(_ERROR)
        if self.outer is not None:
            self.outer.drawing(generator)

    def filling(self):
        """A tensor that is the same for all slices is going to be filled with random numbers."""
        if self.randomness == "different":
            raise RuntimeError(_UNBATCHED)

    def made(self, shape, make):
        """``make(shape)`` draws a tensor: one for all slices, or one for each (``shape`` None: they
        cannot be drawn together).
        """
        outer = self.outer
        drawn = make if outer is None else lambda shape: outer.made(shape, make)
        if self.randomness == "error":
            return make(shape)
        with running(outer):
            if self.randomness == "same":
                return drawn(shape)
            if shape is None:
                return batched([drawn(None) for _ in range(self.size)], self)
            return split(drawn((self.size, *shape)), 0, self)

    def drawing_for(self, k, name):
        """Inside the block a function called ``name`` runs for slice ``k``."""
        if self.randomness == "error":
            return running(self)
        if self.randomness == "different":
            return running(self.outer)
        return running(_Alike(self, k, name))


class _Alike(Level):
    """Every slice draws the same numbers."""

    def __init__(self, level, k, name):
        self.level, self.outer, self.begins = level, level.outer, k == 0
        self.name, self.started = name, False

    def drawing(self, generator):
        if self.name in _BY_PROBABILITY:
            raise RuntimeError(_SAME)
        if self.outer is not None:
            self.outer.drawing(generator)
        if self.started:
            return
        self.started = True
        if self.begins:
            self.level.state = generator.get_state()
        else:
            generator.set_state(self.level.state)

    def filling(self):
        """The slices get the same numbers."""

    def made(self, shape, make):
        return make(shape)


class Columns(Level):
    """Stands for the vmap over tangents of ``jacfwd``."""

    def __init__(self, randomness):
        super().__init__(1, "same" if randomness == "different" else randomness)


class Older(Level):
    """The vmap of batched gradients, which asks less of a user's Function."""

    older = True

    def __init__(self, size):
        super().__init__(size, "error")

    def drawing(self, generator):
        """RuntimeError."""
        raise RuntimeError(
            "vmap: We do not yet support calling random operations inside of vmap. Please perform "
            "random operations outside of vmap as a workaround"
        )
