"""Every rule's examples, run by the real probe: failures are real, repairs are proposed to the byte and end well."""

from __future__ import annotations

import ast
import importlib.util
from typing import TYPE_CHECKING

import pytest

from autofix import registry
from autofix.diagnose import diagnose
from autofix.experiments.requests import plain, tracing
from autofix.model import Target
from autofix.propose import propose
from autofix.rule import Example, Rule, Sources
from autofix.run import run

if TYPE_CHECKING:
    from pathlib import Path

    from autofix.model import Candidate, Diagnosis
    from autofix.probe import wire
    from autofix.run import Probe

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch in this environment"),
]
RULES = registry.rules()
EXAMPLES = [(rule, example, f"{rule.name}-{n}") for rule in RULES for n, example in enumerate(rule.examples, 1)]
REPAIRS = [pytest.param(rule, example, id=name) for rule, example, name in EXAMPLES if example.after is not None]
DECLINES = [pytest.param(rule, example, id=name) for rule, example, name in EXAMPLES if example.after is None]


def written(folder: Path, text: str) -> Target:
    """A target whose script is `text`."""
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    return Target(script, root=folder, isolation="none")


def diagnosed(probe: Probe, target: Target) -> Diagnosis:
    """What the tool makes of a script that fails."""
    failed = run(probe, plain(target))
    assert failed.failure is not None, failed
    asked = tracing(target, failed)
    found = diagnose(failed, run(probe, asked), Sources(target.script.parent))
    assert found is not None
    return found


def candidates(probe: Probe, target: Target, rule: Rule) -> list[Candidate]:
    diagnosis = diagnosed(probe, target)
    assert diagnosis.cause in rule.causes
    return propose(diagnosis, Sources(target.script.parent), [rule])[0]


def ended(probe: Probe, folder: Path, text: str) -> wire.Trace:
    return run(probe, plain(written(folder, text), "baseline"))


@pytest.mark.parametrize(("rule", "example"), REPAIRS)
def test_the_repair_is_proposed_to_the_byte(probe: Probe, tmp_path: Path, rule: Rule, example: Example) -> None:
    target = written(tmp_path, example.before)
    proposed = [candidate.files[target.script].decode() for candidate in candidates(probe, target, rule)]
    assert example.after in proposed


@pytest.mark.parametrize(("rule", "example"), REPAIRS)
def test_the_repair_runs_and_leaves_nothing_to_repair(
    probe: Probe, tmp_path: Path, rule: Rule, example: Example
) -> None:
    assert rule.causes
    assert example.after is not None
    trace = ended(probe, tmp_path, example.after)
    assert (trace.outcome, trace.failure) == ("finished", None), trace.detail


@pytest.mark.parametrize(("rule", "example"), [*REPAIRS, *DECLINES])
def test_every_candidate_parses_and_changes_something(
    probe: Probe, tmp_path: Path, rule: Rule, example: Example
) -> None:
    target = written(tmp_path, example.before)
    found = candidates(probe, target, rule)
    for candidate in found:
        ast.parse(candidate.files[target.script])
        assert candidate.files[target.script] != example.before.encode()
        assert candidate.rules == (rule.code,)
    assert len({tuple(candidate.files.items()) for candidate in found}) == len(found)


@pytest.mark.parametrize(("rule", "example"), DECLINES)
def test_what_the_rule_declines_gets_no_candidate(probe: Probe, tmp_path: Path, rule: Rule, example: Example) -> None:
    assert example.note
    assert candidates(probe, written(tmp_path, example.before), rule) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_shows_three_repairs_and_two_declines(rule: Rule) -> None:
    repaired = [example for example in rule.examples if example.after is not None]
    assert len(repaired) >= 3
    assert len(rule.examples) - len(repaired) >= 2
