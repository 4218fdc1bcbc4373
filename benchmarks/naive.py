"""The naive repairer, for comparison: it does what torch's message says, up to three times, and keeps what runs.

    python benchmarks/naive.py FILE

"a second time" is answered by `retain_graph=True` in every backward, an in-place complaint by writing every in-place
operation out of place, in every Python file of the folder of FILE. It exits with 0 if the script then runs to its end.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_TRIES = 3


def edited(text: str, error: str) -> str:
    """The text as the message asks for it."""
    if "second time" in error:
        return re.sub(r"\.backward\((?!retain)", ".backward(retain_graph=True, ", text).replace(", )", ")")
    if "modified by an inplace" in error or "leaf Variable" in error:
        text = re.sub(r"inplace=True", "inplace=False", text)
        text = re.sub(r"^(\s*)([\w.\[\]]+) ([-+*/])= (.+)$", r"\1\2 = \2 \3 (\4)", text, flags=re.MULTILINE)
        return re.sub(r"^(\s*)([\w.]+)\.(\w+[a-z])_\((.*)\)$", r"\1\2 = \2.\3(\4)", text, flags=re.MULTILINE)
    return text


def main() -> int:
    """Run, edit, run again; returns the exit status."""
    script = Path(sys.argv[1])
    for last in (False,) * _TRIES + (True,):
        done = subprocess.run([sys.executable, script.name], cwd=script.parent, capture_output=True, check=False)
        if done.returncode == 0 or last:
            return done.returncode
        for path in sorted(script.parent.rglob("*.py")):
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            path.write_bytes(edited(text, done.stderr.decode("utf-8", "replace")).encode("utf-8", "surrogateescape"))
    return 1


if __name__ == "__main__":
    sys.exit(main())
