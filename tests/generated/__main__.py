"""Compare generated calls with PyTorch: ``python -m tests.generated FIRST COUNT [NAME] [SHARE]``.

``FIRST COUNT``: seeds; ``NAME``: only operations with this in their name; ``SHARE``: how many of
the calls have a wrong argument (0.12). Prints each call that differs and where, then how many of
each kind.
"""

import collections
import sys

import torch

import gradviz

from . import calls
from .pairs import both


def main(first, count, only="", mistaken=0.12):
    torch.set_num_threads(1)
    torch._C._set_warnAlways(True)
    kinds, names, done, apart = collections.Counter(), collections.Counter(), 0, 0
    for name, text in calls.drawn(gradviz.Tensor, int(first), int(count), only, float(mistaken)):
        done += 1
        for tracked in (False, True):
            found, _ = both(torch, gradviz, text, tracked)
            if found:
                apart += 1
                kinds[found[0].split(":")[0]] += 1
                names[name] += 1
                print(f"{text}\n    {'tracked ' if tracked else ''}" + "\n    ".join(found))
                break
    print(f"{apart} of {done} calls differ")
    print(*(f"{n:5} {kind}" for kind, n in kinds.most_common()), sep="\n")
    print(*(f"{name} {n}" for name, n in names.most_common()), sep=", ")


if __name__ == "__main__":
    main(*sys.argv[1:])
