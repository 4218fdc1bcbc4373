"""Runs the tests that need torch under other versions of torch and Python, and prints one table.

    python benchmarks/versions.py [--torch 2.4.1,2.15.0] [--python 3.11,3.12] [--keep DIR] [TEST ...]

Each pair gets an environment below DIR (build/versions unless given), which later runs use again; a pair that cannot be
had (no such Python on this machine, no such torch for it) is a line of the table that says why. The tests themselves
stay in the interpreter that runs this. Without TEST: the examples of all rules, the fixtures and `torch.func`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ("tests/test_rules.py", "tests/test_fixtures.py", "tests/test_transforms.py")
TORCH = "2.4.1,2.13.0,2.15.0"
PYTHON = "3.11,3.12,3.13,3.14"
_PASSED = (0, 1)
"""Statuses with which pytest has run tests."""


class Missing(Exception):  # noqa: N818 - it is an answer, no error
    """A pair that cannot be had, with the reason."""


def interpreter(version: str) -> str:
    """A Python of this version; raises Missing."""
    kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = str(kept[-1]) if kept else shutil.which(f"python{version}")
    if found is None:
        raise Missing(f"Python {version} is not installed here")
    return found


def environment(folder: Path, python: str, torch: str) -> Path:
    """The interpreter of an environment with this torch, made where there is none yet; raises Missing."""
    home = folder / f"{python}-{torch}"
    program = home / "bin/python"
    if (home / "complete").exists():
        return program
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([interpreter(python), "-m", "venv", home], check=True)
    # numpy 1: what torch 2.4 was built with; it exists for no Python beyond 3.12.
    old = tuple(map(int, torch.split(".")[:2])) < (2, 5)
    packages = [f"torch=={torch}", "numpy<2" if old else "numpy", "setuptools", "pytest"]
    done = subprocess.run(
        [program, "-m", "pip", "install", "--quiet", *packages], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line] or ["pip failed"]
        raise Missing(lines[-1].removeprefix("ERROR: "))
    (home / "complete").touch()
    return program


def tested(program: Path, tests: list[str]) -> str:
    """What pytest says at its end, with the tests that failed."""
    words = ["-n", "2", "--dist", "worksteal", "--randomly-seed=1", "-q", "--python", str(program), *tests]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines() or ["pytest said nothing"]
    if done.returncode not in _PASSED:
        return lines[-1]
    failed = [found[1] for line in lines if (found := re.match(r"FAILED \S+::(\S+)", line))]
    return "; ".join([lines[-1].strip("= "), *failed])


def main() -> None:
    """Make every environment, run the tests in it, print its row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", default=list(TESTS), metavar="TEST")
    parser.add_argument("--torch", default=TORCH)
    parser.add_argument("--python", default=PYTHON)
    parser.add_argument("--keep", type=Path, default=ROOT / "build/versions")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    print("| Python | torch | |\n|---|---|---|", flush=True)
    for python in options.python.split(","):
        for torch in options.torch.split(","):
            try:
                said = tested(environment(options.keep.absolute(), python, torch), options.tests)
            except Missing as reason:
                said = f"not tried: {reason}"
            print(f"| {python} | {torch} | {said} |", flush=True)


if __name__ == "__main__":
    main()
