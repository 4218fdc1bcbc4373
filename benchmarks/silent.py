"""Counts what `autofix audit` names and mends of silently broken scripts, and where it alarms on healthy ones.

    python benchmarks/silent.py [--half seen|aside|both] [--family NAME] [--all] [FOLDER]

FOLDER holds `broken.HALF.txt`, `healthy.HALF.txt` and whatever else ends in `.txt`; else benchmarks/silent. In a file
each script begins with `=== family/name: after what`, and the lines that may rightly be named end in `# here`. `--all`
also prints what was said of the scripts that came out right. While something is built, look at `seen` alone.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from autofix import pipeline
from autofix.core.model import Outcome, Target
from autofix.experiments.run import Probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.core.model import Report

HEAD = """\
import copy, math, random
import torch
from torch import nn, optim
import torch.nn.functional as F
torch.manual_seed(0)
random.seed(0)
"""
HERE = Path(__file__).parent / "silent"


def cases(file: Path) -> Iterator[tuple[str, str]]:
    """Name and text of each script in a file."""
    for block in re.split(r"^=== ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        title, _, body = block.partition("\n")
        yield title.partition(":")[0], HEAD + body


def named(report: Report, text: str, *, sure: bool) -> bool:
    """Whether something is said of a line that may rightly be named, first of all; with `sure`, by an alarm."""
    wanted = {number for number, line in enumerate(text.splitlines(), 1) if line.endswith("# here")}
    return any(one.frame.line in wanted and (one.sure or not sure) for one in report.suspicions)


def said(report: Report) -> str:
    """What a report says, in a line."""
    told = [f"{one.code}{'' if one.sure else '?'}:{one.frame.line}" for one in report.suspicions]
    told += [f"({'; '.join(fix.candidate.titles)})" for fix in report.fixes]
    return " ".join(told) or ("-" if report.outcome is Outcome.CLEAN else f"{report.outcome} {report.message}")


def main(arguments: list[str] | None = None) -> int:
    """Run the scripts and print the table; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE)
    parser.add_argument("--half", choices=("seen", "aside", "both"), default="seen")
    parser.add_argument("--family", default="")
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args(arguments)
    missed = False
    with tempfile.TemporaryDirectory(prefix="silent-") as folder, Probe(Path(sys.executable)) as probe:
        script = Path(folder) / "train.py"
        for file in sorted(given.folder.glob("*.txt")):
            half = file.name.split(".")[1]
            if given.half not in ("both", half) and half in ("seen", "aside"):
                continue
            healthy = file.name.startswith("healthy")
            total, hits, alarms, mended = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
            print(f"\n{file.name}")
            for name, text in cases(file):
                if given.family and given.family not in name:
                    continue
                script.write_text(text, "utf-8")
                report = pipeline.audit(
                    Target(script, root=script.parent, time_limit=60), mend=True, probe=probe, progress=lambda _: None
                )
                family = name.partition("/")[0]
                total[family] += 1
                hit, alarm = named(report, text, sure=False), any(one.sure for one in report.suspicions)
                hits[family] += hit
                mended[family] += hit and bool(report.fixes)
                alarms[family] += alarm if healthy else named(report, text, sure=True)
                if given.all or (alarm if healthy else not hit) or report.outcome is not Outcome.CLEAN:
                    print(f"  {name}: {said(report)}")
            for family in total:
                told = f"named {hits[family]} (alarms {alarms[family]}, mended {mended[family]})"
                kinds = f"alarmed {alarms[family]}" if healthy else told
                print(f"  {family:14} {kinds} of {total[family]}")
            n = total.total()
            if healthy:
                print(f"  all: alarmed {alarms.total()} of {n}")
                missed = missed or alarms.total() > 1
            elif n:
                told = f"named {hits.total()} of {n} ({hits.total() / n:.0%}), alarms {alarms.total()}"
                print(f"  all: {told}, mended {mended.total()}")
                missed = missed or hits.total() < 0.75 * n or mended.total() * 2 < hits.total()  # as was asked for
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
