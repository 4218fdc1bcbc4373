"""Measures how fast `autofix check` reads Python, and TorchFix over the same files in the same run.

    python benchmarks/check.py [FOLDER] [--torchfix PATH] [--mib N]

FOLDER is any tree of Python files, else everything that is installed beside this interpreter. Both are measured
in one process on one core, in CPU seconds, over the same files, `--mib` of those that mention torch and of those that
do not; the best of three rounds that take turns. TorchFix is looked for in this environment, else pip installs it into
one that lasts as long as the measurement; `--torchfix` names the interpreter of another one that has it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from pathlib import Path

from autofix.check import check, known

ROUNDS = 3
TORCHFIX = "torchfix==0.7.0"
WITHOUT_TORCH, WITH_TORCH, FASTER = 10.0, 1.5, 5.0
"""MB/s of files that do not mention torch, and that do; times as fast as TorchFix."""
# Runs in an interpreter that has TorchFix: what flake8 would call, without flake8, on the files of standard input.
THEIRS = """
import json, sys, time, warnings
from torchfix.torchfix import TorchChecker
warnings.simplefilter("ignore")
began = time.process_time()
for path in json.load(sys.stdin):
    try:
        lines = open(path, encoding="utf-8").read().splitlines(keepends=True)
        list(TorchChecker(None, lines).run())
    except Exception:
        pass  # a file that is no Python for it
print(time.process_time() - began)
"""


def main() -> int:
    """Print a line for each kind of file and one for all; status 1 where a target is missed."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        return _compared(options, options.torchfix or _installed(Path(folder)))


def _installed(folder: Path) -> Path | None:
    """The interpreter of a new environment with TorchFix; None where pip cannot get it."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", TORCHFIX], check=False)
    return python if done.returncode == 0 else None


def _compared(options: argparse.Namespace, torchfix: Path | None) -> int:
    files = [path for path in sorted(options.folder.rglob("*.py")) if path.is_file()]
    mention = {path: b"torch" in path.read_bytes() for path in files}
    missed, ours, theirs = False, 0.0, 0.0
    for kind, wanted in ((False, WITHOUT_TORCH), (True, WITH_TORCH)):
        chosen = _sample([path for path in files if mention[path] is kind], options.mib)
        if chosen:
            measured = _measure(chosen, torchfix)
            speed = _size(chosen) / measured[0]
            missed = missed or speed < wanted
            ours, theirs = ours + measured[0], theirs + measured[1]
            words = "mention torch" if kind else "do not mention torch"
            print(f"{len(chosen)} files, {_size(chosen):.1f} MB that {words}:")
            print(f"  autofix check {speed:.2f} MB/s (wanted: {wanted:g})")
            print(
                f"  TorchFix {_size(chosen) / measured[1]:.2f} MB/s"
                if measured[1]
                else "  TorchFix: pip cannot get it; see --torchfix"
            )
    if theirs:
        print(f"all: autofix check takes {ours:.2f} s, TorchFix {theirs:.2f} s: {theirs / ours:.0f} times as fast")
        missed = missed or theirs / ours < FASTER
    return int(missed)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(sysconfig.get_path("purelib")))
    parser.add_argument("--torchfix", type=Path, default=_own_torchfix(), help="an interpreter that has TorchFix")
    parser.add_argument("--mib", type=float, default=2.0, help="how much to read of each kind (2)")
    return parser.parse_args()


def _own_torchfix() -> Path | None:
    return Path(sys.executable) if importlib.util.find_spec("torchfix") is not None else None


def _sample(files: list[Path], mib: float) -> list[Path]:
    """Files spread evenly over the tree, up to a size."""
    size = sum(path.stat().st_size for path in files)
    stride = max(1, int(size / (mib * (1 << 20))))
    return files[::stride]


def _size(files: list[Path]) -> float:
    return sum(path.stat().st_size for path in files) / 1e6


def _measure(files: list[Path], torchfix: Path | None) -> tuple[float, float]:
    """The best CPU seconds of both, in turns; 0 for TorchFix where there is none."""
    ours, theirs = [], []
    for _ in range(ROUNDS):
        began = time.process_time()
        check.check(files, known.finders(), jobs=1)
        ours.append(time.process_time() - began)
        theirs.append(_theirs(files, torchfix) if torchfix is not None else 0.0)
    return min(ours), min(theirs)


def _theirs(files: list[Path], torchfix: Path) -> float:
    done = subprocess.run(
        [str(torchfix), "-c", THEIRS], input=json.dumps([str(path) for path in files]), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"TorchFix does not run: {done.stderr.strip().splitlines()[-1]}")
    return float(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
