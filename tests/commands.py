"""The program as people start it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def autofix(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `autofix WORDS` prints in a folder, and its status."""
    return subprocess.run(
        [sys.executable, "-m", "autofix", *words], cwd=cwd, capture_output=True, text=True, check=False,
        env=os.environ | environment,
    )  # fmt: skip
