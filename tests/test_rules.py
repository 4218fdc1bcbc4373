"""Every rule's examples, run by the real probe: failures are real, repairs proposed to the byte, and judged."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from scripts import Script

from autofix.core.model import Applicability, Candidate, Cause, Target
from autofix.experiments.client import Probe
from autofix.pipeline import verify
from autofix.search import registry
from autofix.search.propose import hints, propose
from autofix.search.rule import HEAD, Example, Rule, Sources

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch in this environment"),
]
RULES = registry.rules()


def _first(*, declined: bool = False, of: int = 1) -> list[ParameterSet]:
    """The first example of one rule of each `of` in every run of the tests, the others with those that take long."""
    return [
        pytest.param(rule, one, id=f"{rule.name}-{n}", marks=[pytest.mark.apart("long")] * (n > 1 or at % of > 0))
        for at, rule in enumerate(RULES)
        for n, one in enumerate((one for one in rule.examples if (one.after is None) == declined), 1)
    ]


REPAIRS, JUDGED, DECLINES = _first(), _first(of=2), _first(declined=True)


def written(folder: Path, text: str) -> Target:
    """A target whose script is `text`."""
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    return Target(script, root=folder, isolation="none")


def test_every_example_of_a_text_begins_as_the_text_does() -> None:
    repaired, declined = Example.each("import copy\n! a\n! unsafe: b\n-x = 1\n+x = 2\n! c\n@d\ndef f(): pass\n")
    head = f"import copy\n{HEAD}"
    assert (repaired.before, repaired.after, repaired.unsafe) == (f"{head}x = 1\n", f"{head}x = 2\n", True)
    assert (declined.before, declined.after) == (f"{head}\n\n@d\ndef f(): pass\n", None)


def candidates(probe: Probe, target: Target, rule: Rule) -> list[Candidate]:
    diagnosis = Script(probe, target).diagnosed()
    assert diagnosis.cause in rule.causes
    return propose(diagnosis, Sources(target.script.parent), [rule])[0]


@pytest.mark.parametrize(("rule", "example"), REPAIRS)
def test_the_repair_is_proposed_to_the_byte(probe: Probe, tmp_path: Path, rule: Rule, example: Example) -> None:
    target = written(tmp_path, example.before)
    proposed = [candidate.files[target.script].decode() for candidate in candidates(probe, target, rule)]
    assert example.after in proposed
    assert example.before not in proposed
    assert len(set(proposed)) == len(proposed)
    for text in proposed:
        ast.parse(text)


@pytest.mark.parametrize(("rule", "example"), JUDGED)
def test_the_repair_is_judged_as_the_example_says(probe: Probe, tmp_path: Path, rule: Rule, example: Example) -> None:
    assert example.after is not None
    target = written(tmp_path, example.before)
    files = {target.script: example.after.encode()}
    (fix,) = verify(target, files, ours=True, probe=probe, progress=lambda _: None).fixes
    judged = fix.verdict.applicability.lowered(rule.applicability)
    safe = rule.applicability is Applicability.SAFE and not example.unsafe
    assert (judged is Applicability.SAFE) is safe, fix.verdict.summary


@pytest.mark.parametrize(("rule", "example"), DECLINES)
def test_what_the_rule_declines_gets_no_candidate(probe: Probe, tmp_path: Path, rule: Rule, example: Example) -> None:
    assert example.notes
    assert candidates(probe, written(tmp_path, example.before), rule) == []


def test_where_no_edit_helps_a_line_is_named(probe: Probe, tmp_path: Path) -> None:
    target = written(
        tmp_path, "import torch\nw = torch.ones(2, requires_grad=True)\nloss = (w > 0).sum()\nloss.backward()\n"
    )
    diagnosis = Script(probe, target).diagnosed()
    assert not propose(diagnosis, Sources(tmp_path), RULES)[0]
    assert [(hint.rule, hint.frame.line) for hint in hints(diagnosis, RULES)] == [("AG401", 3)]


def test_each_cause_has_a_rule_that_says_what_is_usually_done() -> None:
    told = {cause for rule in RULES if rule.usual[1] or "hints" in vars(type(rule)) for cause in rule.causes}
    assert set(Cause) - told <= {Cause.OTHER}


ANEW = """\
from torch.utils.checkpoint import checkpoint
ways = [torch.exp, lambda w: w.exp().exp()]
checkpoint(lambda w: ways.pop()(w), w, use_reentrant=False).sum().backward()
"""
ONCE = """\
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.exp()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return grad * 2
torch.autograd.grad(Exp.apply(w).pow(2).sum(), w, create_graph=True)[0].sum().backward()
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("h = w.exp()\nh.sum().backward()\nh.prod().backward()\n", 4),
        ("torch.exp(w, out=torch.empty(2))\n", 3),
        ("(g,) = torch.autograd.grad(torch.ones(2).sum() + w.sum(), [torch.ones(2)])\n", 3),
        (ANEW, 5),
        (ONCE, 12),
    ],
    ids=["freed", "out", "unused", "anew", "once"],
)
def test_what_is_usually_done_stands_at_a_line_of_the_failure(
    probe: Probe, tmp_path: Path, text: str, line: int
) -> None:
    target = written(tmp_path, f"import torch\nw = torch.ones(2, requires_grad=True)\n{text}")
    assert line in [hint.frame.line for hint in hints(Script(probe, target).diagnosed(), RULES)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_shows_three_repairs_and_two_declines(rule: Rule) -> None:
    repaired = [example for example in rule.examples if example.after is not None]
    assert len(repaired) >= 3
    assert len(rule.examples) - len(repaired) >= 2
