"""The generator of repositories in `benchmarks/`, and a browser, for tests."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def program(name: str) -> str | None:
    """Where a program is that starts here; None too for one that was installed only in part."""
    path = shutil.which(name)
    if path is None or subprocess.run([path, "--version"], capture_output=True, check=False).returncode:
        return None
    return path


CHROMIUM = program("chromium")


def _farm() -> Any:
    path = Path(__file__).resolve().parent.parent / "benchmarks" / "farm.py"
    spec = importlib.util.spec_from_file_location("farm", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["farm"] = module  # its records look their module up there
    spec.loader.exec_module(module)
    return module


FARM = _farm()


def browsed(page: Path) -> str:
    """The page as Chromium has it, once its script has run."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory() as profile:
        command = [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={profile}", "--dump-dom", page.as_uri(),
        ]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
