"""What autofix finds around it: the interpreter a script here would run in, its torch, and the fence it would get."""

from __future__ import annotations

import subprocess
from pathlib import Path

from autofix.experiments.client import PROBE
from autofix.target import interpreter

_LIMIT = 20
# Neither imports torch: that takes longer than anybody waits for a version.
_TORCH = "from importlib import metadata; print(metadata.version('torch'))"
_FENCE = """
import importlib.util, sys
here = sys.argv[1]
name = "_autofix_probe"
spec = importlib.util.spec_from_file_location(name, here + "/__init__.py", submodule_search_locations=[here])
sys.modules[name] = package = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
print(*importlib.import_module(name + ".fence.isolate").available())
"""


def found() -> str:
    """Two lines: torch with its interpreter, and the isolation."""
    try:
        python = interpreter.find("", Path.cwd())
    except interpreter.InterpreterError as error:
        return f"torch: {error}\n"
    torch = _answer(python, "-P", "-c", _TORCH)
    fence = _answer(python, "-P", "-c", _FENCE, str(PROBE))
    kinds = fence.split() if fence is not None else []
    known = f"torch {torch} in {python}" if torch else f"torch not found in {python}; name another with --python"
    return f"{known}\nisolation {kinds[0] if kinds else 'not known'}\n"


def _answer(python: Path, *words: str) -> str | None:
    try:
        done = subprocess.run([python, *words], capture_output=True, text=True, timeout=_LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
