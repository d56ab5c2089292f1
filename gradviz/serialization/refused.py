"""What ``load`` raises for a file that it does not read, and for what is not there."""

from pickle import UnpicklingError


class Refused(UnpicklingError):
    """The file is damaged, or holds what is not read."""

    def __init__(self, why):
        super().__init__(f"Weights only load failed: {why}")


class Absent(RuntimeError):
    """A device on which a tensor lay, or a file of the archive, is not there."""
