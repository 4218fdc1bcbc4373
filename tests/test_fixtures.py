"""Every fixture: what it dies of and where, what `fix` offers, and what the judge says of right and wrong edits."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lawful import verdicts
from sampled import one_in

from autofix import pipeline
from autofix.commands import ending
from autofix.core.model import Applicability, Report, RunOutcome, Target, Verdict
from autofix.experiments.client import Probe
from autofix.search import registry

FIXTURES = Path(__file__).parent.parent / "fixtures"
CASES = {
    str(path.parent.relative_to(FIXTURES)): path.parent
    for path in sorted(FIXTURES.rglob("case.toml"))
    if any(path.parent.glob("broken*"))
}
FIRST = [name for name in CASES if name.startswith("first/")]
"""What everybody meets; every run of the tests has them all."""
FAMILIES = sorted({name.partition("/")[0] for name in CASES} - {"first"})


def told(name: str) -> dict[str, Any]:
    """What a case says should be found."""
    return tomllib.loads((CASES[name] / "case.toml").read_text("utf-8"))


def having(kind: str) -> list[str]:
    """The cases that have an edit of a kind."""
    return [name for name in CASES if told(name).get(kind)]


def program(case: Path) -> Path:
    """The failing program: a script or a package."""
    return case / "broken.py" if (case / "broken.py").exists() else case / "broken"


def script(name: str) -> Path:
    """What of the failing program is run."""
    whole = program(CASES[name])
    return whole / "main.py" if whole.is_dir() else whole


def target(name: str) -> Target:
    """The failing program as something to run."""
    return Target(script(name), root=script(name).parent, argv=tuple(told(name).get("args", ())))


def edited(name: str, kind: str, edit: str) -> dict[Path, bytes]:
    """The files that an edit changes, as it leaves them."""
    whole, changed = program(CASES[name]), CASES[name] / kind / edit
    if not whole.is_dir():
        return {whole: changed.with_suffix(".py").read_bytes()}
    files = {whole / path.relative_to(changed): path.read_bytes() for path in changed.rglob("*.py")}
    return {path: data for path, data in files.items() if data != path.read_bytes()}


def judged(probe: Probe, name: str, kind: str) -> dict[str, Verdict]:
    """What is said of each edit of a kind."""
    edits = {one["name"]: edited(name, kind, one["name"]) for one in told(name)[kind]}
    return verdicts(probe, target(name), edits)


def safe(verdict: Verdict) -> bool:
    return verdict.applicability is Applicability.SAFE


def named(name: str) -> Iterator[tuple[Path, int]]:
    """The lines that explain a case."""
    for culprit in told(name).get("culprit", ()):
        yield script(name).parent / culprit["file"], culprit["line"]


def kinds(name: str) -> set[str]:
    """Where its lines stand: in a class, in a method that is called after `__init__`, in an imported module."""
    found = set()
    for file, line in named(name):
        if file != script(name):
            found.add("imported module")
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0):
                methods = (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name != "__init__")
                inside = any(part.lineno <= line <= (part.end_lineno or 0) for part in methods)
                found |= {"class", "method"} if inside else {"class"}
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_classes_methods_and_imported_modules(family: str) -> None:
    cases = [kinds(name) for name in CASES if name.startswith(f"{family}/")]
    for kind in ("class", "method", "imported module"):
        assert any(kind in found for found in cases), kind


@pytest.mark.torch
@pytest.mark.parametrize("name", [*FIRST, *one_in(15, [name for name in CASES if name not in FIRST])])
def test_a_case_dies_as_it_says_and_is_offered_what_it_says(probe: Probe, name: str) -> None:
    case = told(name)
    report = pipeline.fix(target(name), registry.rules(), probe=probe, progress=lambda _: None)
    explained(report, name)
    assert report.outcome.value == case["outcome"]
    assert ending.STATUS.get(report.outcome, ending.CANNOT) == case["exit"]
    if report.fixes:
        first = report.fixes[0].verdict
        assert (first.effect.value, safe(first)) == (case["effect"], case["safe"])
    if "first" in case:
        assert report.fixes[0].candidate.files == edited(name, "fixed", case["first"])


def explained(report: Report, name: str) -> None:
    """Whether it dies as the case says, of that cause, and the lines that explain it are named."""
    case = told(name)
    if "error" in case:
        assert report.failure is not None
        assert case["error"] in f"{report.failure.type}: {report.failure.message}"
    if "cause" in case:
        assert report.diagnosis is not None
        assert report.diagnosis.cause == case["cause"]
        lines = {(Path(culprit.frame.file), culprit.frame.line) for culprit in report.diagnosis.culprits}
        assert any(abs(line - other) <= 1 and file == there for file, line in named(name) for there, other in lines)


@pytest.mark.torch
@pytest.mark.apart("long")
@pytest.mark.parametrize("name", having("fixed"))
def test_right_edits_have_their_effect(probe: Probe, name: str) -> None:
    found = {edit: (one.effect.value, safe(one)) for edit, one in judged(probe, name, "fixed").items()}
    assert found == {
        one["name"]: (one["effect"], one.get("safe", one["effect"] not in {"changed", "unknown"}))
        for one in told(name)["fixed"]
    }


@pytest.mark.torch
@pytest.mark.parametrize(
    "name",
    one_in(15, having("wrong")),
)
def test_wrong_edits_are_never_safe(probe: Probe, name: str) -> None:
    passed = (RunOutcome.PASSED, RunOutcome.FINISHED)
    found = {edit: (one.run in passed, safe(one)) for edit, one in judged(probe, name, "wrong").items()}
    assert found == {one["name"]: (one["runs"], False) for one in told(name)["wrong"]}


@pytest.mark.torch
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.apart("long")) for name in having("fixed")],
)
def test_fresh_processes_say_what_forks_say(probe: Probe, python: Path, name: str) -> None:
    files = edited(name, "fixed", told(name)["fixed"][0]["name"])
    with Probe(python, fresh=True) as fresh:
        alone, forked = (
            pipeline.verify(target(name), files, probe=one, progress=lambda _: None) for one in (fresh, probe)
        )
    assert alone.outcome is forked.outcome
    assert [fix.verdict.effect for fix in alone.fixes] == [fix.verdict.effect for fix in forked.fixes]
    assert [fix.verdict.summary for fix in alone.fixes] == [fix.verdict.summary for fix in forked.fixes]
