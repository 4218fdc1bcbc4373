"""Every fixture: what `fix` offers, and what the judge says of its right and its wrong edits.

`AUTOFIX_FRESH=all` compares fresh processes with forks on all of them, not only on one of every third family.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from autofix import pipeline
from autofix.commands import repair
from autofix.core.model import Applicability, Outcome, Report, Target
from autofix.experiments.run import Probe
from autofix.search import registry

pytestmark = pytest.mark.torch
FIXTURES = Path(__file__).parent.parent / "fixtures"
CASES = {
    str(path.parent.relative_to(FIXTURES)): path.parent
    for path in sorted(FIXTURES.rglob("case.toml"))
    if any(path.parent.glob("broken*"))
}
FAMILIES = {name.partition("/")[0]: name for name in reversed(CASES)}
FRESH = [*CASES] if os.environ.get("AUTOFIX_FRESH") == "all" else sorted(FAMILIES.values())[::3]


def told(name: str) -> dict[str, Any]:
    """What a case says should be found."""
    return tomllib.loads((CASES[name] / "case.toml").read_text("utf-8"))


def edits(kind: str) -> list[tuple[str, str]]:
    """Every edit of a kind, as the names of its case and of itself."""
    return [(name, one["name"]) for name in CASES for one in told(name).get(kind, ())]


def program(case: Path) -> Path:
    """The failing program: a script or a package."""
    return case / "broken.py" if (case / "broken.py").exists() else case / "broken"


def target(name: str) -> Target:
    """The failing program as something to run."""
    script = program(CASES[name])
    script = script / "main.py" if script.is_dir() else script
    return Target(script, root=script.parent, argv=tuple(told(name).get("args", ())))


def edited(name: str, kind: str, edit: str) -> dict[Path, bytes]:
    """The files that an edit changes, as it leaves them."""
    whole, changed = program(CASES[name]), CASES[name] / kind / edit
    if not whole.is_dir():
        return {whole: changed.with_suffix(".py").read_bytes()}
    files = {whole / path.relative_to(changed): path.read_bytes() for path in changed.rglob("*.py")}
    return {path: data for path, data in files.items() if data != path.read_bytes()}


def verify(probe: Probe, name: str, kind: str, edit: str) -> Report:
    """The judge's report of an edit."""
    files = edited(name, kind, edit)
    return pipeline.verify(target(name), files, probe=probe, progress=lambda _: None)


@pytest.mark.parametrize("name", CASES)
def test_fix_offers_what_the_case_says(probe: Probe, name: str) -> None:
    case = told(name)
    report = pipeline.fix(target(name), registry.rules(), probe=probe, progress=lambda _: None)
    assert report.outcome.value == case["outcome"]
    assert repair.STATUS.get(report.outcome, repair.CANNOT) == case["exit"]
    if report.fixes:
        first = report.fixes[0].verdict
        assert (first.effect.value, first.applicability is Applicability.SAFE) == (case["effect"], case["safe"])
    if "first" in case:
        assert report.fixes[0].candidate.files == edited(name, "fixed", case["first"])


@pytest.mark.apart("long")
@pytest.mark.parametrize(("name", "edit"), edits("fixed"))
def test_a_right_edit_has_its_effect(probe: Probe, name: str, edit: str) -> None:
    (wanted,) = (one for one in told(name)["fixed"] if one["name"] == edit)
    report = verify(probe, name, "fixed", edit)
    assert report.fixes[0].verdict.effect.value == wanted["effect"]
    assert (report.outcome is Outcome.SAFE) == wanted.get("safe", wanted["effect"] not in {"changed", "unknown"})


@pytest.mark.parametrize(("name", "edit"), edits("wrong"))
def test_a_wrong_edit_is_never_safe(probe: Probe, name: str, edit: str) -> None:
    (wanted,) = (one for one in told(name)["wrong"] if one["name"] == edit)
    report = verify(probe, name, "wrong", edit)
    assert report.outcome is (Outcome.UNSAFE if wanted["runs"] else Outcome.STILL_FAILING)


@pytest.mark.parametrize("name", [name for name in FRESH if told(name).get("fixed")])
def test_fresh_processes_say_what_forks_say(probe: Probe, python: Path, name: str) -> None:
    edit = told(name)["fixed"][0]["name"]
    with Probe(python, fresh=True) as fresh:
        alone = verify(fresh, name, "fixed", edit)
    forked = verify(probe, name, "fixed", edit)
    assert alone.outcome is forked.outcome
    assert [fix.verdict.effect for fix in alone.fixes] == [fix.verdict.effect for fix in forked.fixes]
    assert [fix.verdict.summary for fix in alone.fixes] == [fix.verdict.summary for fix in forked.fixes]
