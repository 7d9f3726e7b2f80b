"""``python -m obelus``: the command ``obelus``."""

import sys

from .command_line.program import main

if __name__ == "__main__":
    sys.exit(main())
