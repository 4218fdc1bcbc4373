"""The program as people start it: a process of its own; `typed` is the fixture that does so in the test's process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

Typed = Callable[..., subprocess.CompletedProcess[str]]


def autofix(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `autofix WORDS` prints in a folder, and its status."""
    return subprocess.run(
        [sys.executable, "-m", "autofix", *words], cwd=cwd, capture_output=True, text=True, check=False,
        env=os.environ | environment,
    )  # fmt: skip
