"""Lessons: predictions that are measured, exercises that are checked by their graph and gradients,
and progress that is kept in a file.

::

    lesson = teach.Lesson("08", exercises=2)
    lesson.compare(guess, w.grad)

    @lesson.check(1)
    def _check(want):
        a = torch.tensor(2.0, requires_grad=True)
        want.grad(a, 3.0)
"""

from .lesson import Lesson
from .progress import progress
from .want import Want, operations_left

__all__ = ["Lesson", "Want", "operations_left", "progress"]
