"""Records every verdict on the fixtures and on a folder of cases, and lists how two records differ.

    python benchmarks/verdicts.py OUT [--cases CASES] [--only A,B] [--kinds fixed,wrong,fix] [--jobs 2]
    python benchmarks/verdicts.py OUT --compare BEFORE

A record has one line of JSON for each right and wrong edit, as `verify` judges it, and one for each program, as `fix`
repairs it: outcome, effect, applicability, findings, the sentence, and of `fix` all offers in their order. It names no
place of the machine and is sorted, so that a commit which only moves code reproduces it byte for byte. CASES is
shared/cases beside this repository, where there is such a folder. With `--only` the lines of other programs stay as OUT
has them. `--compare` runs nothing, and leaves sentences aside with `--effects`; its status is 1 where records differ.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from cases import CASES, broken, contents, entry, quiet

from autofix import pipeline
from autofix.core.model import Fix, Report, Target
from autofix.experiments.client import Probe
from autofix.search import registry

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
KINDS = ("fixed", "accepted", "wrong")


def programs(cases: Path, only: tuple[str, ...]) -> dict[str, Path]:
    """The folder of each failing program, by the name that it has in a record."""
    fixtures = {f"fixtures/{path.parent.relative_to(FIXTURES)}": path.parent for path in FIXTURES.rglob("case.toml")}
    more = {f"cases/{path.parent.name}": path.parent for path in cases.glob("*/meta.json")} if cases.is_dir() else {}
    found = {name: path.resolve() for name, path in sorted((fixtures | more).items()) if broken(path).exists()}
    return {n: p for n, p in found.items() if not only or any(n.partition("/")[2].startswith(one) for one in only)}


def verdicts(folder: Path, kinds: tuple[str, ...], probe: Probe) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the judge says of each edit of a program, and what a repair offers."""
    original = broken(folder)
    script = entry(original)
    told = tomllib.loads((folder / "case.toml").read_text("utf-8")) if (folder / "case.toml").exists() else {}
    target = Target(script, root=script.parent, python=probe.python, argv=tuple(told.get("args", ())))
    for kind in KINDS:
        for edited in sorted((folder / kind).glob("[!_.]*")) if kind in kinds else ():
            report = pipeline.verify(target, contents(original, edited), probe=probe, progress=quiet)
            yield f"{kind}/{edited.stem}", _report(report)
    if "fix" in kinds:
        yield "fix", _report(pipeline.fix(target, registry.rules(), probe=probe, progress=quiet))


def _report(report: Report) -> dict[str, Any]:
    told: dict[str, Any] = {"outcome": report.outcome, "offers": [_fix(fix) for fix in report.fixes]}
    if report.rejected:
        told["rejected"] = sorted({f"{' + '.join(fix.candidate.rules)}: {fix.verdict.run}" for fix in report.rejected})
    return told


def _fix(fix: Fix) -> dict[str, Any]:
    edit = hashlib.sha256(b"".join(data for _, data in sorted(fix.candidate.files.items()))).hexdigest()[:12]
    verdict = fix.verdict
    return {
        "rules": fix.candidate.rules, "edit": edit, "effect": verdict.effect, "applicability": verdict.applicability,
        "findings": [one.property for one in verdict.findings], "sentence": verdict.summary,
        "finding_sentences": [one.sentence for one in verdict.findings],
    }  # fmt: skip


def record(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything that is asked for, several programs side by side, each with a probe that is kept."""
    kinds = tuple(options.kinds.split(","))
    wanted = programs(options.cases, tuple(filter(None, options.only.split(","))))
    probes: SimpleQueue[Probe] = SimpleQueue()

    def one(name: str) -> dict[str, Any]:
        probe = probes.get()
        try:
            found = {f"{name} {edit}": told for edit, told in verdicts(wanted[name], kinds, probe)}
        finally:
            probes.put(probe)
        print(f"{name}: {len(found)}", file=sys.stderr, flush=True)
        return found

    running = [Probe(options.python) for _ in range(options.jobs)]
    try:
        for probe in running:
            probes.put(probe)
        with ThreadPoolExecutor(options.jobs) as threads:
            return {key: told for found in threads.map(one, wanted) for key, told in found.items()}
    finally:
        for probe in running:
            probe.close()


def load(path: Path) -> dict[str, Any]:
    """A record by program and edit; empty where there is none yet."""
    return dict(json.loads(line) for line in path.read_text("utf-8").splitlines()) if path.exists() else {}


def plain(told: Any) -> Any:
    """A verdict without its sentences."""
    if isinstance(told, dict):
        return {name: plain(value) for name, value in told.items() if "sentence" not in name}
    return [plain(one) for one in told] if isinstance(told, list) else told


def differences(before: dict[str, Any], after: dict[str, Any], *, effects: bool) -> list[str]:
    """One paragraph for each program and edit that two records tell apart."""
    said = []
    for key in sorted(before.keys() | after.keys()):
        one, other = (plain(told.get(key)) if effects else told.get(key) for told in (before, after))
        if one != other:
            said.append(f"{key}\n  - {_words(one)}\n  + {_words(other)}")
    return said


def _words(told: dict[str, Any] | None) -> str:
    if told is None:
        return "not recorded"
    offers = (
        f"{'+'.join(o['rules'])} {o['edit']} {o['applicability']} {o['effect']} {','.join(o['findings'])}"
        f" {o.get('sentence', '')} {o.get('finding_sentences', '')}"
        for o in told["offers"]
    )
    return f"{told['outcome']}: " + "\n    ".join([*offers, *told.get("rejected", ())])


def main() -> int:
    """Make a record, or compare two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--compare", type=Path, metavar="BEFORE", help="list what differs between BEFORE and OUT")
    parser.add_argument("--effects", action="store_true", help="compare effects, findings and offers, not sentences")
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--only", default="", help="beginnings of names, such as first/gan,B05")
    parser.add_argument("--kinds", default=",".join([*KINDS, "fix"]))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    options = parser.parse_args()
    if options.compare:
        found = differences(load(options.compare), load(options.out), effects=options.effects)
        print("\n".join([*found, f"{len(found)} of {len(load(options.out))} differ"]))
        return bool(found)
    told = (load(options.out) if options.only else {}) | record(options)
    options.out.write_text("".join(json.dumps(pair) + "\n" for pair in sorted(told.items())), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
