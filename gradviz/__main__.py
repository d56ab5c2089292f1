"""``python -m gradviz``: the command ``gradviz``."""

import sys

from gradviz.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
