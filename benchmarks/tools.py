"""Holds any repair tool against failing scripts with right and tempting wrong edits, and prints one table.

    python benchmarks/tools.py [CASES ...] [--tool 'NAME=COMMAND {file}'] [--only A,B] [--limit SECONDS]

A tool is a command that edits `{file}`, or files beside it, where they lie. Each case is copied into a folder of its
own with nothing else in it, the command is run there, and the neutral judge (`neutral.py`) says what the copy then
is: **right** trains as an accepted edit does; **wrong** runs and trains otherwise; **crash** still dies;
**declined**: no file was changed. A wrong one is what this benchmark is about: its author would not notice.

CASES are folders of cases as `fixtures/README.md` describes them, at any depth (fixtures/ unless given). Without
--tool these are compared: what torch's message says (`naive.py`), autofix as it writes by itself, and autofix when
told to write its first offer whatever it thinks of it.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from neutral import broken, entry, judge, reference, versions

HERE = Path(__file__).resolve().parent
TOOLS = (
    f"naive={shlex.quote(sys.executable)} {shlex.quote(str(HERE / 'naive.py'))} {{file}}",
    f"autofix={shlex.quote(sys.executable)} -m autofix fix --quiet --write {{file}}",
    f"autofix, first offer={shlex.quote(sys.executable)} -m autofix fix --quiet --write --unsafe-fixes {{file}}",
)
WORDS = ("right", "wrong", "crash", "declined")
_VERDICTS = {"pass": "right", "wrong_gradients": "wrong", "crash": "crash", "timeout": "crash"}


def cases(folder: Path) -> list[Path]:
    """The cases below a folder whose failing version has accepted edits."""
    found = {path.parent for kind in ("broken.py", "broken/main.py") for path in folder.rglob(kind)}
    homes = {path.parent if path.name == "broken" else path for path in found}
    return sorted(case for case in homes if versions(case, "accepted"))


def outcome(case: Path, command: str, limit: float) -> str:
    """What a tool made of a case."""
    original = broken(case)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "project", "work" if original.is_dir() else "train.py")
        copy.parent.mkdir()
        shutil.copytree(original, copy) if original.is_dir() else shutil.copy(original, copy)
        before = {path: path.read_bytes() for path in copy.parent.rglob("*.py")}
        words = [word.replace("{file}", str(entry(copy))) for word in shlex.split(command)]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(words, cwd=entry(copy).parent, capture_output=True, timeout=limit, check=False)
        if all(path.exists() and path.read_bytes() == data for path, data in before.items()):
            return "declined"
        return _VERDICTS[str(judge(case, copy)["verdict"])]


def main() -> None:
    """Run every tool over every case and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", type=Path, default=[HERE.parent / "fixtures"])
    parser.add_argument("--tool", action="append", metavar="NAME=COMMAND", help="may be given several times")
    parser.add_argument("--only", default="", help="beginnings of the names of cases, separated by commas")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one repair")
    options = parser.parse_args()
    tools = dict(text.partition("=")[::2] for text in options.tool or TOOLS)
    if bad := [name for name, command in tools.items() if "{file}" not in command]:
        parser.error(f"the command of {bad[0]!r} does not say {{file}}: --tool 'mine=my-tool --fix {{file}}'")
    only = tuple(part for part in options.only.split(",") if part)
    chosen = [case.resolve() for folder in options.cases for case in cases(folder)]
    chosen = [case for case in chosen if not only or case.name.startswith(only)]
    table: dict[str, Counter[str]] = {name: Counter() for name in tools}
    for case in chosen:
        for name, command in tools.items():
            found = outcome(case, command, options.limit)
            table[name][found] += 1
            print(f"  {case.name:40s} {name:24s} {found}", flush=True)
        reference.cache_clear()
    print(f"\n| {len(chosen)} cases | {' | '.join(WORDS)} |\n|---|{'---|' * len(WORDS)}")
    for name, counts in table.items():
        print(f"| {name} | {' | '.join(str(counts[word]) for word in WORDS)} |")


if __name__ == "__main__":
    main()
