"""What ``load`` raises for a file that it does not read."""

from pickle import UnpicklingError


class Refused(UnpicklingError):
    """The file is damaged, or holds what is not read."""

    def __init__(self, why):
        super().__init__(f"Weights only load failed: {why}")
