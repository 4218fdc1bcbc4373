"""Measures what `autofix check` finds without a run: in failing scripts, in repaired ones, in healthy look-alikes.

    python benchmarks/found.py [CASES ...] [--half open|aside] [--verbose]

Each CASES is a folder of cases as `cases.py` takes them, or `fixtures`; without any, `threads` beside this file and
`fixtures`. Cases that name a half are left out unless it is the one asked for. Nothing is run.

failing: scripts that fail; found: those with a finding; line: those where one is in the line that explains the failure,
or next to it; named: where a finding or a note of it names that line. right: repaired scripts; alarms: those with any.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autofix.check import check, known
from autofix.check.finding import Finding

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


@dataclass
class Case:
    """A failing script, the lines that explain it, and its right repairs."""

    name: str
    family: str
    broken: Path
    lines: set[tuple[str, int]]
    repaired: list[Path]


@dataclass
class Row:
    """What was found of a family."""

    cases: int = 0
    found: int = 0
    line: int = 0
    named: int = 0
    repaired: int = 0
    alarms: int = 0


def main() -> int:
    """Print a row for each family and one for all."""
    options = _options()
    rows: dict[str, Row] = defaultdict(Row)
    for folder in options.cases or [HERE / "threads", ROOT / "fixtures"]:
        for case in _cases(folder, options.half):
            _measure(case, rows[case.family], verbose=options.verbose)
        healthy = sorted((folder / "healthy").glob("*.py"))
        for path in healthy:
            rows["healthy"].repaired += 1
            rows["healthy"].alarms += bool(_alarm(path))
    total = Row(*(sum(getattr(row, name) for row in rows.values()) for name in Row.__dataclass_fields__))
    print(f"{'family':24s} {'failing':>8s} {'found':>6s} {'line':>6s} {'named':>6s} {'right':>6s} {'alarms':>6s}")
    for family, row in (*sorted(rows.items()), ("all", total)):
        print(
            f"{family:24s} {row.cases:8d} {row.found:6d} {row.line:6d} {row.named:6d} {row.repaired:6d} {row.alarms:6d}"
        )
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", type=Path)
    parser.add_argument("--half", choices=("open", "aside"), default="open")
    parser.add_argument("--verbose", action="store_true", help="a line for each case")
    return parser.parse_args()


def _cases(folder: Path, half: str) -> Iterator[Case]:
    for path in sorted(folder.rglob("meta.json")):
        meta = json.loads(path.read_text("utf-8"))
        if meta.get("half", half) == half:
            lines = {(Path(meta["bug_file"]).name, meta["bug_line"])}
            yield _case(path.parent, meta["family"], lines, "accepted")
    for path in sorted(folder.rglob("case.toml")):
        table = tomllib.loads(path.read_text("utf-8"))
        if "cause" in table:
            culprits = table.get("culprit", [])
            entry = "main.py" if (path.parent / "broken").is_dir() else "broken.py"
            lines = {(Path(one.get("file", entry)).name, one["line"]) for one in culprits}
            yield _case(path.parent, path.parent.parent.name, lines, "fixed")


def _case(folder: Path, family: str, lines: set[tuple[str, int]], right: str) -> Case:
    broken = folder / "broken.py"
    repaired = sorted(path for path in (folder / right).glob("*") if path.name != "__pycache__")
    return Case(folder.name, family, broken if broken.exists() else folder / "broken", lines, repaired)


def _found(script: Path) -> list[Finding]:
    """What a check of a script finds, or of every file of a package."""
    files = sorted(script.rglob("*.py")) if script.is_dir() else [script]
    return list(check.check(files, known.finders(), jobs=1).findings)


def _alarm(script: Path) -> list[Finding]:
    found = _found(script)
    for one in found:
        print(f"  alarm {one.path}:{one.line}: {one.code} {one.message}")
    return found


def _measure(case: Case, row: Row, *, verbose: bool) -> None:
    found = _found(case.broken)
    first = {(Path(one.path).name, one.line) for one in found}
    named = first | {(Path(note.path).name, note.line) for one in found for note in one.notes}
    row.cases += 1
    row.found += bool(found)
    row.line += _meets(case.lines, first)
    row.named += _meets(case.lines, named)
    for path in case.repaired:
        row.repaired += 1
        row.alarms += bool(_alarm(path))
    if verbose:
        word = (
            "line" if _meets(case.lines, first) else "named" if _meets(case.lines, named) else "found" if found else "-"
        )
        codes = ", ".join(f"{one.code} line {one.line}" for one in found)
        print(f"  {case.name:34s} {word:6s} {codes}; wanted {', '.join(str(line) for _, line in sorted(case.lines))}")


def _meets(wanted: set[tuple[str, int]], found: set[tuple[str, int]]) -> bool:
    """Whether a line that was found is one that is wanted, or next to it."""
    return any((file, line + step) in found for file, line in wanted for step in (-1, 0, 1))


if __name__ == "__main__":
    sys.exit(main())
