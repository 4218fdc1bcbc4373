"""Counts what `autofix audit` names and mends of silently broken scripts, and where it alarms on healthy ones.

    python benchmarks/silent.py [--half seen|aside|second|third|all] [--family NAME] [--all] [--no-edits] [FOLDER]

FOLDER holds `broken.HALF.txt`, `healthy.HALF.txt` and whatever else ends in `.txt`; else benchmarks/silent. In a file
each script begins with `=== family/name: after what`, and the lines that may rightly be named end in `# here`. A script
of several files names each by a line `--- FILE`; `train.py` is run. `--all` also prints what was said of the scripts
that came out right; `--no-edits` looks for no edit. While something is built, look at `seen` alone.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autofix import pipeline
from autofix.core.model import Outcome, Report, Target
from autofix.experiments.client import Probe

HEAD = """\
import copy, math, random
import torch
from torch import nn, optim
import torch.nn.functional as F
torch.manual_seed(0)
random.seed(0)
"""
HERE = Path(__file__).parent / "silent"
HALVES = ("seen", "aside", "second", "third")


def cases(file: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Name of each script in a file, and the text of its files by their names."""
    for block in re.split(r"^=== ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        title, _, body = block.partition("\n")
        parts = re.split(r"^--- (\S+)\n", body, flags=re.MULTILINE)
        texts = dict(zip(parts[1::2], parts[2::2], strict=True)) or {"train.py": body}
        yield title.partition(":")[0], texts | {"train.py": HEAD + texts["train.py"]}


def named(report: Report, texts: dict[str, str], *, sure: bool) -> bool:
    """Whether something is said of a line that may rightly be named, first of all; with `sure`, by an alarm."""
    return any(
        texts.get(Path(one.frame.file).name, "").splitlines()[one.frame.line - 1].endswith("# here")
        for one in report.suspicions
        if one.sure or not sure
    )


def said(report: Report) -> str:
    """What a report says, in a line."""
    told = [f"{one.code}{'' if one.sure else '?'}:{one.frame.line}" for one in report.suspicions]
    told += [f"({'; '.join(fix.candidate.titles)})" for fix in report.fixes]
    return " ".join(told) or ("-" if report.outcome is Outcome.CLEAN else f"{report.outcome} {report.message}")


@dataclass
class Count:
    """What came of the scripts of one file, by family."""

    healthy: bool
    total: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    alarmed: Counter[str] = field(default_factory=Counter)
    mended: Counter[str] = field(default_factory=Counter)

    def add(self, family: str, report: Report, texts: dict[str, str]) -> bool:
        """Count one script; returns whether it came out as it should."""
        hit, alarm = named(report, texts, sure=False), any(one.sure for one in report.suspicions)
        self.total[family] += 1
        self.named[family] += hit
        self.mended[family] += hit and bool(report.fixes)
        self.alarmed[family] += alarm if self.healthy else named(report, texts, sure=True)
        return report.outcome is Outcome.CLEAN and (not alarm if self.healthy else hit)

    def show(self) -> None:
        """Print the table."""
        for family in self.total:
            told = f"named {self.named[family]} (alarms {self.alarmed[family]}, mended {self.mended[family]})"
            kinds = f"alarmed {self.alarmed[family]}" if self.healthy else told
            print(f"  {family:14} {kinds} of {self.total[family]}")
        n, hits, alarms = self.total.total(), self.named.total(), self.alarmed.total()
        if self.healthy:
            print(f"  all: alarmed {alarms} of {n}")
        elif n:
            print(f"  all: named {hits} of {n} ({hits / n:.0%}), alarms {alarms}, mended {self.mended.total()}")

    def missed(self, *, edits: bool) -> bool:
        """Whether a target is missed, as was asked for."""
        n, hits = self.total.total(), self.named.total()
        if self.healthy:
            return self.alarmed.total() > 1
        return hits < 0.75 * n or (edits and self.mended.total() * 2 < hits)


def lay(folder: Path, texts: dict[str, str]) -> Target:
    """The files of one script in a folder of their own."""
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return Target(folder / "train.py", root=folder, time_limit=60)


def main(arguments: list[str] | None = None) -> int:
    """Run the scripts and print the table; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    parser.add_argument("--half", choices=(*HALVES, "all"), default="seen")
    parser.add_argument("--family", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--no-edits", dest="edits", action="store_false")
    given = parser.parse_args(arguments)
    missed = False
    with tempfile.TemporaryDirectory(prefix="silent-") as folder, Probe(Path(sys.executable)) as probe:
        for file in sorted(given.folder.glob("*.txt")):
            half = file.name.split(".")[1]
            if given.half not in ("all", half) and half in HALVES:
                continue
            count = Count(file.name.startswith("healthy"))
            print(f"\n{file.name}")
            for name, texts in cases(file):
                if given.family in name:
                    target = lay(Path(folder) / f"{half}-{name.replace('/', '-')}-{count.healthy:d}", texts)
                    report = pipeline.audit(target, mend=given.edits, probe=probe, progress=lambda _: None)
                    if not count.add(name.partition("/")[0], report, texts) or given.all:
                        print(f"  {name}: {said(report)}", flush=True)
            count.show()
            missed = missed or count.missed(edits=given.edits)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
