"""A run whose gradients have left every reference ends there, and is judged as it would be at its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autofix import pipeline
from autofix.core.model import Applicability, Cause, Diagnosis, Effect, Reading, Target, Treatment
from autofix.experiments.client import Probe, run
from autofix.experiments.pool import Pool
from autofix.experiments.requests import plain
from autofix.experiments.spec import RunSpec
from autofix.probe import wire
from autofix.search.rule import Proposal, Rule, Sources, Tier
from autofix.syntax.edits import Splice

pytestmark = pytest.mark.torch

FREED = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(8):
    out = model(torch.randn(5, 4))
    optimizer.zero_grad()
    out.square().mean().backward()
    out.abs().mean().backward()
    optimizer.step()
"""
ENDLESS = """
import torch

w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
batch = 0
while True:
    w.square().sum().backward()
    optimizer.step()
    batch += 1
"""
WORD = "out.square().mean().backward()"
STEPS = 8


class Several(Rule):
    """The right edit is the last of those that scale the loss."""

    code, name, title, tier = "TEST", "several", "Scale the loss", Tier.MEANT
    causes = frozenset({Cause.FREED_GRAPH})

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        source = sources.source(diagnosis.failure.stack[0].file)
        assert source is not None
        start = source.text.find(WORD)
        for factor in (2, 3, 1):
            text = f"({factor} * out.square().mean()).backward(retain_graph=True)"
            yield self.propose([Splice(source, start, start + len(WORD), text)], f"times {factor}")


def test_what_parts_early_is_judged_as_it_would_be_at_its_end(probe: Probe, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FREED)
    report = pipeline.fix(Target(script), [Several()], probe=probe, progress=lambda _: None)
    best, *changed = report.fixes
    assert (best.verdict.effect, best.verdict.applicability) == (Effect.IDENTICAL, Applicability.SAFE)
    assert [fix.verdict.effect for fix in changed] == [Effect.CHANGED] * 2
    assert not any("steps" in change.note for fix in changed for change in fix.verdict.changes)


def test_a_frozen_run_that_begins_when_its_references_are_done_parts_from_them(probe: Probe, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FREED)
    target = Target(script)
    scaled = {script: FREED.replace(WORD, "(2 * out.square().mean()).backward(retain_graph=True)").encode()}
    right = {script: FREED.replace(WORD, "out.square().mean().backward(retain_graph=True)").encode()}
    with Pool(probe, target, run(probe, plain(target))) as pool:
        assert len(pool.get(RunSpec.reference(Reading(), Treatment.FROZEN)).steps) == STEPS
        for files, steps in ((scaled, 1), (right, STEPS)):
            trace = pool.get(RunSpec.edited(files, Treatment.FROZEN))
            assert [len(trace.steps), trace.parted] == [steps, steps < STEPS]


@pytest.mark.parametrize(("gradient", "steps"), [(1.0, STEPS), (1.0005, STEPS), (1.01, 1)])
def test_only_far_gradients_end_a_run(probe: Probe, tmp_path: Path, gradient: float, steps: int) -> None:
    script = tmp_path / "train.py"
    script.write_text(FREED.replace("    out.abs().mean().backward()\n", ""))
    asked = replace(plain(Target(script), "candidate"), frozen=True)
    whole = run(probe, asked)
    assert [len(whole.steps), whole.parted] == [STEPS, False]
    first = whole.steps[0]
    other = replace(first, gradients=tuple(tuple(gradient * x for x in one) for one in first.gradients))
    trace = run(probe, replace(asked, expected=((other,),)))
    assert [len(trace.steps), trace.parted] == [steps, steps < STEPS]


def test_one_reference_that_is_still_near_lets_a_run_go_on(probe: Probe, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FREED.replace("    out.abs().mean().backward()\n", ""))
    asked = replace(plain(Target(script), "candidate"), frozen=True)
    whole = run(probe, asked)
    none = wire.Step(0, tuple(() for _ in whole.steps[0].gradients), (), "")
    assert not run(probe, replace(asked, expected=((none,), whole.steps[:2]))).parted
    assert run(probe, replace(asked, expected=((none,),))).parted


@pytest.mark.parametrize("step", ["if batch < 3: optimizer.step()", "pass"])
def test_a_run_ends_that_will_not_come_to_its_last_step(probe: Probe, tmp_path: Path, step: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(ENDLESS.replace("optimizer.step()", step))
    trace = run(probe, replace(plain(Target(script), "candidate"), stop_at=(6, 6)))
    assert (trace.outcome, trace.counts) == ("stopped", (3 if "batch" in step else 0,))
    assert trace.backward_count == 4 * 6 + 60
