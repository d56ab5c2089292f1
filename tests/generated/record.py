"""Write down what PyTorch does with the calls of the quick sample, and which names still differ:
``python -m tests.generated.record``.
"""

import json
import lzma

import torch

import gradviz

from .outcome import recorded
from .pairs import both
from .test_calls import RECORDED, SETTLED, sample


def main():
    torch.set_num_threads(1)
    torch._C._set_warnAlways(True)
    told, still = {}, []
    for name, texts in sample().items():
        for text in texts:
            pairs = [both(torch, gradviz, text, tracked) for tracked in (False, True)]
            told.setdefault(name, {})[text] = [recorded(theirs) for _, theirs in pairs]
            if any(found for found, _ in pairs) and name not in still:
                still.append(name)
    data = json.dumps(told, separators=(",", ":"), sort_keys=True).encode()
    RECORDED.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    SETTLED.write_text("\n".join(sorted(still)) + "\n")
    print(f"{len(data)} bytes, {RECORDED.stat().st_size} compressed; {len(still)} names unsettled")


if __name__ == "__main__":
    main()
