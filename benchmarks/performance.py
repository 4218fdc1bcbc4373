"""Measures what a repair costs against the plain failing run, and writes docs/performance.md and docs/performance.json.

    python benchmarks/performance.py [--only PART,...] [--all] [--repeats N] [--keep]

Every figure is a ratio inside one run of this program: ours and theirs take turns, and the median is shown. What other
programs used of the machine meanwhile stands beside each figure. `--keep` prints and leaves the two files as they are;
`--only` measures some parts and keeps the others' figures as they were.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import instruments
import measure
import repairs
import stages
from measure import ROOT, Figure

from autofix.core.own import cores
from autofix.experiments.client import Probe

PAGE, RECORD = ROOT / "docs/performance.md", ROOT / "docs/performance.json"
BEGIN, END = "<!-- figures: written by benchmarks/performance.py -->", "<!-- end of figures -->"
BUSY = 0.3
"""Cores used by others from which on a figure is marked as taken under load."""
PROFILED = 4
SECONDS = 10.0


def parts(options: argparse.Namespace) -> dict[str, Callable[[], Iterator[list[Figure]]]]:
    """The parts of the benchmark, in the order of the table."""
    n = options.repeats
    scripts = repairs.fixtures(every=options.all)
    return {
        "fixtures": lambda: repairs.cold_and_warm(max(1, n // 2), scripts),
        "candidates": lambda: repairs.candidates(n),
        "failing": lambda: instruments.failing(n),
        "instruments": lambda: instruments.overheads(n),
        "computing": lambda: repairs.computing(max(1, n // 4), options.seconds),
        "setups": lambda: repairs.setups(max(1, n // 4), 2 * options.seconds),
        "memory": lambda: repairs.memory(max(1, n // 2)),
        "words": lambda: repairs.words(2 * n),
        "ends-well": lambda: repairs.ends_well(n),
        "naive": lambda: repairs.naive(max(1, n // 4)),
        "growth": lambda: repairs.growth(max(1, n // 4)),
    }


def main() -> None:
    """Measure, print, write."""
    options = _options()
    known = parts(options)
    wanted = [word for word in options.only.split(",") if word] or [*known, "profile"]
    if unknown := set(wanted) - {*known, "profile"}:
        raise SystemExit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join([*known, 'profile'])}")
    record = json.loads(RECORD.read_text()) if RECORD.exists() and options.only else {"parts": {}}
    began = time.monotonic()
    for name in known:
        if name in wanted:
            record["parts"][name] = _measured(known[name])
    if "profile" in wanted:
        record["profile"] = stages.profile(repairs.fixtures(every=False)[:PROFILED], max(1, options.repeats // 2))
        print("\n".join(profile_table(record["profile"])))
    record["parts"] = {name: record["parts"][name] for name in known if name in record["parts"]}
    record["machine"] = machine()
    print(f"{time.monotonic() - began:.0f} s")
    if not options.keep:
        RECORD.write_text(json.dumps(record, indent=1, default=_rounded) + "\n")
        _write(record)


def _measured(part: Callable[[], Iterator[list[Figure]]]) -> dict[str, Any]:
    load, figures = os.getloadavg()[0], []
    for figure in measure.witnessed(part()):
        figures.append(figure.record())
        print(row(figures[-1]), flush=True)
    taken = datetime.now(UTC).isoformat(timespec="minutes")
    return {"taken": taken, "load_before": load, "figures": figures}


def machine() -> dict[str, Any]:
    """What the figures were taken on."""
    with Probe(Path(measure.PYTHON)) as probe:
        torch = probe.hello().torch
    return {"cores": cores(), "torch": torch, "python": platform.python_version(), "system": platform.system()}


def row(figure: dict[str, Any]) -> str:
    """One line of the table."""
    unit = " s" if figure["unit"] == "s" else ""
    digits = 3 if unit else 2
    target = "" if figure["target"] is None else f"≤ {figure['target']:g}{unit}"
    busy = figure["neighbours"] > BUSY
    met = "" if figure["met"] is None else "not judged" if busy else "met" if figure["met"] else "**missed**"
    values = figure["values"]
    span = f"{min(values):.{digits}f} to {max(values):.{digits}f}"
    load = f"{figure['neighbours']:.1f}{' (under load)' if busy else ''}"
    middle = f"{figure['median']:.{digits}f}{unit}"
    return f"| {figure['name']} | {middle} | {target} | {met} | {span} | {len(values)} | {load} |"


def profile_table(profile: dict[str, dict[str, float]]) -> list[str]:
    """Where the time goes, as a table."""
    lines = ["| stage | cold, s | share | warm, s | share |", "|---|---|---|---|---|"]
    total = profile["all"]
    for name, seconds in profile.items():
        if name.startswith("runs: "):
            continue
        cells = [f"{seconds.get(kind, 0):.3f} | {seconds.get(kind, 0) / total[kind]:.0%}" for kind in ("cold", "warm")]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "| runs of | in a cold repair | their seconds | in a warm repair | their seconds |",
        "|---|---|---|---|---|",
    ]
    for name, seconds in profile.items():
        if name.startswith("runs: "):
            cells = [f"{seconds.get(f'{kind} runs', 0):g} | {seconds.get(kind, 0):.3f}" for kind in ("cold", "warm")]
            lines.append(f"| {name.removeprefix('runs: ')} | {' | '.join(cells)} |")
    return lines


def _write(record: dict[str, Any]) -> None:
    """The tables, between their marks; the prose around them is written by hand."""
    about = record["machine"]
    dates = sorted(part["taken"][:10] for part in record["parts"].values())
    taken = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    lines = [
        f"{about['cores']} cores, torch {about['torch']}, Python {about['python']}, {about['system']}; taken {taken}.",
        "",
        "| figure | median | target | | from, to | values | cores that others used |",
        "|---|---|---|---|---|---|---|",
        *(row(figure) for part in record["parts"].values() for figure in part["figures"]),
    ]
    counted = record["parts"].get("candidates")
    if counted:
        by = next(iter(counted["figures"][0]["parts"].values()))
        lines += ["", "| candidates | " + " | ".join(by) + " |", "|---|" + "---|" * len(by)]
        lines += ["| warm repair, s | " + " | ".join(f"{seconds:.2f}" for seconds in by.values()) + " |"]
    if "profile" in record:
        lines += ["", *profile_table(record["profile"])]
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}")


def _rounded(value: object) -> str:
    return str(value)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts, with commas: " + "fixtures, candidates, instruments, …")
    parser.add_argument("--all", action="store_true", help="every fixture instead of a spread of them")
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the script that computes for long (10)")
    parser.add_argument("--keep", action="store_true", help="print the figures; leave docs/ alone")
    return parser.parse_args()


if __name__ == "__main__":
    main()
