"""Measures repairs of learners: scripts with hundreds of environment steps between two updates.

    python benchmarks/learning.py [NAME...] [--options "..."]

For each script of `learners/`: the plain failing run, a cold `autofix fix`, their ratio, the seconds past the plain
run, and what came of it. Ten scripts in the manner of public ones, with an environment of their own.
"""

from __future__ import annotations

import argparse
import json
import shlex
import statistics
from pathlib import Path
from typing import Any

from measure import Ran, fix, plain

LEARNERS = Path(__file__).resolve().parent / "learners"


def main() -> None:
    """Measure each script that was named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--options", default="", help="further options of `autofix fix`")
    asked = parser.parse_args()
    scripts = [path for path in sorted(LEARNERS.glob("*.py")) if path.stem != "pendulum"]
    rows = []
    print(f"{'learner':12} {'plain':>7} {'cold':>7} {'ratio':>6} {'past':>6} {'cpu':>6}  what came of it")
    for script in scripts:
        if not asked.names or script.stem in asked.names:
            before = plain(script)
            ours = fix(script, options=["--output-format", "json", *shlex.split(asked.options)])
            rows.append((before.seconds, ours.seconds))
            print(_row(script.stem, before, ours), flush=True)
    ratios = [ours / before for before, ours in rows]
    past = [ours - before for before, ours in rows]
    print(f"ratio: median {statistics.median(ratios):.1f}, worst {max(ratios):.1f}; worst past {max(past):.1f} s")


def _row(name: str, before: Ran, ours: Ran) -> str:
    ratio, past = ours.seconds / before.seconds, ours.seconds - before.seconds
    figures = f"{before.seconds:6.1f}s {ours.seconds:6.1f}s {ratio:6.1f} {past:5.1f}s {ours.cpu:5.1f}s"
    return f"{name:12} {figures}  {_came_of(json.loads(ours.stdout or '{}'))}"


def _came_of(report: dict[str, Any]) -> str:
    best = next(iter(report.get("fixes", ())), None)
    if best is None:
        return str(report.get("outcome", "nothing"))
    return f"{report['outcome']}: {best['rule']} {best['applicability']} {best['effect']} of {len(report['fixes'])}"


if __name__ == "__main__":
    main()
