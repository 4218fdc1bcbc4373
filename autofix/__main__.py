"""`python -m autofix`, for an interpreter whose scripts are not on the path."""

import sys

from autofix.cli import main

if __name__ == "__main__":
    sys.exit(main())
