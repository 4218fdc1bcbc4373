"""Holds the judge and the repairs against a folder of cases with accepted and wrong edits and a neutral judge.

    python benchmarks/cases.py [CASES] [--only A,B] [--half open|aside] [--verify] [--fix]

CASES is shared/cases beside this repository unless it is given; with neither, --verify and --fix are done. A
case folder holds `broken.py` (or `broken/main.py`), `accepted/`, `wrong/`; CASES/judge.py, or neutral.py here if there
is none, decides independently whether a repaired script trains as an accepted one does. Cases that name a half are
left out unless it is the one asked for, so that the half kept aside is never run unnoticed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from autofix import pipeline
from autofix.core.model import Applicability, Outcome, Target
from autofix.experiments.client import Probe
from autofix.search import registry

CASES = Path(__file__).resolve().parents[2] / "shared/cases"
"""Where cases are looked for when no folder is given."""


@dataclass
class Tally:
    """What was counted over all cases."""

    accepted: int = 0
    accepted_safe: int = 0
    wrong: int = 0
    wrong_safe: int = 0
    cases: int = 0
    safe_right: int = 0
    safe_wrong: int = 0
    any_right: int = 0
    culprit: int = 0
    none: int = 0
    tried: int = 0
    rows: list[dict[str, object]] = field(default_factory=list)


def entry(path: Path) -> Path:
    """The script to run of a file or a package folder."""
    return path / "main.py" if path.is_dir() else path


def broken(case: Path) -> Path:
    """The failing version."""
    return case / "broken.py" if (case / "broken.py").exists() else case / "broken"


def half(case: Path) -> str:
    """The half of its corpus that a case belongs to; empty if it names none."""
    return str(json.loads((case / "meta.json").read_text()).get("half", ""))


def contents(original: Path, edited: Path) -> dict[Path, bytes]:
    """The edited files under their original paths."""
    if not original.is_dir():
        return {original: edited.read_bytes()}
    return {original / path.relative_to(edited): path.read_bytes() for path in edited.rglob("*.py")}


def quiet(_: str) -> None:
    """No progress."""


def verify_case(case: Path, probe: Probe, python: Path, tally: Tally) -> None:
    """Every accepted and every wrong edit through `verify`."""
    original = broken(case)
    for kind in ("accepted", "wrong"):
        for edited in sorted((case / kind).iterdir()):
            if edited.name == "__pycache__":
                continue
            target = Target(entry(original), root=entry(original).parent, python=python)
            report = pipeline.verify(target, contents(original, edited), probe=probe, progress=quiet)
            safe = report.outcome is Outcome.SAFE
            verdict = (report.fixes or report.rejected)[0].verdict if report.fixes or report.rejected else None
            right = safe == (kind == "accepted")
            if kind == "accepted":
                tally.accepted += 1
                tally.accepted_safe += safe
            else:
                tally.wrong += 1
                tally.wrong_safe += safe
            words = f"{verdict.effect} {verdict.summary}" if verdict else report.message
            guards = ",".join(one.property for one in verdict.findings) if verdict else ""
            flag = "" if right else "   <<<<" if kind == "accepted" else "   !!!! WRONG CALLED SAFE"
            print(
                f"  {case.name:36s} {kind:8s} {edited.name:34s} {report.outcome} {guards} {words[:110]}{flag}",
                flush=True,
            )
            tally.rows.append({"case": case.name, "kind": kind, "edit": edited.name, "outcome": report.outcome})


def judged(judge: Path, case: Path, files: dict[Path, bytes]) -> str:
    """The neutral judge's word on a repaired copy."""
    original = broken(case)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "candidate"
        if original.is_dir():
            shutil.copytree(original, copy)
            for path, data in files.items():
                (copy / path.relative_to(original)).write_bytes(data)
        else:
            copy = copy.with_suffix(".py")
            copy.write_bytes(next(iter(files.values())))
        command = [sys.executable, str(judge), str(case), str(copy)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return str(json.loads(done.stdout.splitlines()[-1])["verdict"]) if done.stdout else "judge failed"


def fix_case(case: Path, probe: Probe, python: Path, judge: Path, tally: Tally) -> None:
    """The best fix through the neutral judge, and the culprit lines against those that the case names."""
    original = entry(broken(case))
    target = Target(original, root=original.parent, python=python)
    report = pipeline.fix(target, registry.rules(), probe=probe, progress=quiet)
    tally.cases += 1
    meta = json.loads((case / "meta.json").read_text())
    lines = [c.frame for c in report.diagnosis.culprits] if report.diagnosis else []
    named = meta["bug_file"].rsplit("/", 1)[-1]
    found = any(f.file.endswith(named) and abs(f.line - meta["bug_line"]) <= 1 for f in lines)
    tally.culprit += found
    tally.none += not report.fixes
    tally.tried += len(report.fixes) + len(report.rejected)
    word, best = "none", None
    if report.fixes:
        best = report.fixes[0]
        word = judged(judge, case, best.candidate.files)
        safe = best.verdict.applicability is Applicability.SAFE
        tally.any_right += word == "pass"
        tally.safe_right += safe and word == "pass"
        tally.safe_wrong += safe and word != "pass"
    label = f"{best.verdict.applicability} {best.verdict.effect} {'+'.join(best.candidate.rules)}" if best else "-"
    flag = "" if word == "pass" else "   <<<<"
    if best and best.verdict.applicability is Applicability.SAFE and word != "pass":
        flag = "   !!!! WRONG CALLED SAFE"
    print(
        f"  {case.name:36s} {word:16s} {label:44s} culprit {'yes' if found else 'NO '} {report.outcome}{flag}",
        flush=True,
    )


def main() -> None:
    """Run the benchmark and print the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="?", type=Path, default=CASES)
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--half", choices=("open", "aside"), default="open", help="of cases that name one")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    options = parser.parse_args()
    if not options.cases.is_dir():
        print(f"left out: there is no folder of cases at {options.cases}; give one: python benchmarks/cases.py CASES")
        return
    if not (options.verify or options.fix):
        options.verify = options.fix = True
    wanted = tuple(part for part in options.only.split(",") if part)
    folders = [p.resolve() for p in sorted(options.cases.iterdir()) if (p / "meta.json").exists()]
    folders = [folder for folder in folders if not wanted or folder.name.startswith(wanted)]
    folders = [folder for folder in folders if half(folder) in {"", options.half}]
    judge = options.judge or options.cases / "judge.py"
    judge = judge if judge.exists() else Path(__file__).with_name("neutral.py")
    tally = Tally()
    with Probe(options.python) as probe:
        for case in folders:
            if options.verify:
                verify_case(case, probe, options.python, tally)
            if options.fix:
                fix_case(case, probe, options.python, judge, tally)
    if options.verify:
        print(
            f"accepted called safe: {tally.accepted_safe}/{tally.accepted}   "
            f"wrong called safe: {tally.wrong_safe}/{tally.wrong}"
        )
    if options.fix:
        print(
            f"cases {tally.cases}: safe and right {tally.safe_right}, safe and wrong {tally.safe_wrong}, "
            f"best right {tally.any_right}, no offer {tally.none}, culprit named {tally.culprit}, "
            f"candidates judged for one repair {tally.tried / max(tally.cases, 1):.1f}"
        )


if __name__ == "__main__":
    main()
