"""Runs are compared within a budget of time: less is then compared, and never another verdict on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autofix import pipeline
from autofix.core.model import Applicability, Effect, Outcome, Reading, Report, Target, Treatment
from autofix.experiments import pool, reproduce, requests
from autofix.experiments.client import Probe, run
from autofix.experiments.pool import _FIRST_RUN
from autofix.experiments.requests import Builder, plain
from autofix.experiments.spec import Intervention, RunSpec
from autofix.probe import wire
from autofix.probe.instruments.stopper import ENOUGH, MOST
from autofix.search import registry

pytestmark = pytest.mark.torch

BEGINNING = """
import time
import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
average = [torch.zeros(4, 4)]


def explore(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

"""
SHARED = """
for update in range(100):
    optimizer.zero_grad()
    hidden = first(torch.randn(8, 4))
    loss = hidden.square().mean()
    other = second(hidden).square().mean()
    loss.backward()
    other.backward()
    optimizer.step()
    average[0].mul_(0.9).add_(first.weight.detach(), alpha=0.1)
    explore(WAIT)
"""
CARRIED = """
state = torch.zeros(8, 4)
for update in range(100):
    optimizer.zero_grad()
    state = torch.tanh(first(torch.randn(8, 4)) + state)
    second(state).square().mean().backward()
    optimizer.step()
    explore(WAIT)
"""
ONCE = """
optimizer.zero_grad()
hidden = first(torch.randn(8, 4))
hidden.square().mean().backward()
hidden.sum().backward()
while True:
    explore(1)
"""
STEPPED = """
makes, judges = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (first, second))
for update in range(6):
    noise, data = torch.randn(8, 4), torch.randn(8, 4)
    optimizer.zero_grad()
    made = first(first(noise).tanh())
    score, real = second(made.tanh()), second(data)
    (score + made).square().mean().backward(retain_graph=True)
    makes.step()
    judges.zero_grad()
    ((score - 1).square().mean() + real.square().mean()).backward()
    judges.step()
"""
IN_TURN = """
first, second, third = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 4)
one, two, three = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (first, second, third))
for update in range(6):
    hidden = first(first(torch.randn(8, 4)).tanh()).tanh()
    score, size = second(hidden), third(hidden)
    one.zero_grad()
    (hidden.sum() + score.sum()).backward(retain_graph=True)
    one.step()
    two.zero_grad()
    score.square().mean().backward(retain_graph=True)
    two.step()
    three.zero_grad()
    size.square().mean().backward()
    three.step()
"""
OFTEN = """
one, two = (torch.optim.SGD(net.parameters(), lr=0.001) for net in (first, second))
for update in range(1, 1000):
    hidden = first(torch.randn(8, 4))
    loss = second(hidden).square().mean()
    loss.backward()
    two.step()
    if update % EVERY == 0:
        hidden.square().mean().backward()
        one.step()
"""
KEEP = ("loss.backward()", "loss.backward(retain_graph=True)")
CUT = ("    optimizer.step()", "    optimizer.step(); state = state.detach()")


def script(folder: Path, body: str, wait: float) -> Target:
    path = folder / "train.py"
    path.write_text(BEGINNING + body.replace("WAIT", str(wait)))
    return Target(path, root=folder, budget=0.3, isolation="none")


def verified(probe: Probe, target: Target, *changes: tuple[str, str]) -> Report:
    text = target.script.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return pipeline.verify(target, {target.script: text.encode()}, probe=probe, progress=lambda _: None)


def reference(probe: Probe, target: Target, **given: object) -> wire.Trace:
    asked = Builder(target, run(probe, plain(target))).first(_FIRST_RUN)
    return run(probe, replace(asked, **given))


def test_a_run_ends_at_two_steps_when_its_budget_is_used_up(probe: Probe, tmp_path: Path) -> None:
    trace = reference(probe, script(tmp_path, SHARED, 1.0))
    assert (trace.outcome, trace.hurried, trace.counts) == ("stopped", True, (2,))


def test_a_quick_run_ends_as_if_there_were_no_budget(probe: Probe, tmp_path: Path) -> None:
    trace = reference(probe, script(tmp_path, SHARED, 0.0))
    assert (trace.hurried, trace.counts) == (False, (ENOUGH,))


def test_how_many_steps_are_compared_is_no_matter_of_how_long_an_import_takes(probe: Probe, tmp_path: Path) -> None:
    # The pass after the failing one takes longer than all others together.
    target = script(tmp_path, SHARED.replace("explore(WAIT)", "explore(0.3 if update == 1 else 0.0)"), 0.0)
    assert reference(probe, replace(target, budget=60.0)).counts == (ENOUGH,)


def test_passes_that_take_longer_are_compared_as_often_as_is_asked(probe: Probe, tmp_path: Path) -> None:
    trace = reference(probe, script(tmp_path, SHARED, 0.1))
    assert (trace.hurried, trace.counts) == (False, (3,))


def test_steps_between_which_an_evaluation_lies_are_not_waited_for(probe: Probe, tmp_path: Path) -> None:
    target = script(tmp_path, SHARED.replace("explore(WAIT)", "explore(1.2 if update == 1 else 0.0)"), 0.0)
    assert reference(probe, replace(target, budget=60.0)).counts == (3,)


@pytest.mark.parametrize(("every", "counts"), [(2, (ENOUGH, 2 * ENOUGH)), (10, (MOST // 10, 10 + MOST))])
def test_enough_steps_are_counted_of_each_optimizer_but_none_makes_too_many(
    probe: Probe, tmp_path: Path, every: int, counts: tuple[int, int]
) -> None:
    target = replace(script(tmp_path, OFTEN.replace("EVERY", str(every)), 0.0), budget=60.0)
    assert reference(probe, target).counts[1:] == counts


@pytest.mark.apart("long")
def test_what_ends_between_two_steps_tells_what_was_at_the_step(probe: Probe, tmp_path: Path) -> None:
    # The average is written between the second step, at which other runs are to end, and the end of the time.
    report = verified(probe, script(tmp_path, SHARED, 1.0), KEEP)
    (fix,) = report.fixes
    assert (report.outcome, fix.verdict.effect) == (Outcome.SAFE, Effect.IDENTICAL)
    assert "at 2 steps, in" in fix.verdict.summary


@pytest.mark.apart("long")
def test_a_write_that_an_edit_loses_is_seen_in_two_steps(probe: Probe, tmp_path: Path) -> None:
    lost = ("    average[0].mul_(0.9)", "    average[0].mul(0.9)")
    report = verified(probe, script(tmp_path, SHARED, 1.0), KEEP, lost)
    assert report.fixes[0].verdict.effect is Effect.CHANGED


@pytest.mark.apart("long")
def test_two_steps_are_too_few_to_call_a_cut_safe(probe: Probe, tmp_path: Path) -> None:
    (fix,) = verified(probe, script(tmp_path, CARRIED, 0.3), CUT).fixes
    assert fix.verdict.applicability is Applicability.UNSAFE
    assert fix.verdict.effect is Effect.UNKNOWN
    assert "--budget" in fix.verdict.summary
    (fix,) = verified(probe, script(tmp_path, CARRIED, 0.0), CUT).fixes
    assert fix.verdict.applicability is Applicability.SAFE


@pytest.mark.apart("long")
@pytest.mark.parametrize(("longest", "effect"), [(30.0, Effect.TRUNCATED), (0.3, Effect.UNKNOWN)])
def test_runs_go_further_where_a_third_step_is_all_that_is_missing(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, longest: float, effect: Effect
) -> None:
    for name, value in {"_LEAST": 0.3, "_TIMES": 0.0, "_LONGEST": longest}.items():
        monkeypatch.setattr(requests, name, value)
    target = replace(script(tmp_path, CARRIED, 0.3), budget=0.0)
    (judged,) = verified(probe, target, CUT).fixes
    found = pipeline.fix(target, registry.rules(), probe=probe, progress=lambda _: None)
    for fix in (judged, found.fixes[0]):
        assert fix.verdict.effect is effect, fix.verdict.summary
        assert ("could not run a third training step" in fix.verdict.summary) is (effect is Effect.UNKNOWN)


def test_nobody_waits_for_an_optimizer_whose_parameters_another_moves(probe: Probe, tmp_path: Path) -> None:
    target = script(tmp_path, f"unused = torch.optim.Adam(first.parameters())\n{SHARED}", 0.0)
    trace = reference(probe, target)
    assert (trace.hurried, trace.counts[1]) == (False, 0)


@pytest.mark.apart("long")
def test_a_graph_that_grows_is_seen_in_two_steps(probe: Probe, tmp_path: Path) -> None:
    target = script(tmp_path, CARRIED.replace("optimizer.step()", "optimizer.step(); first.requires_grad_(False)"), 0.3)
    (fix,) = verified(probe, target, (".backward()", ".backward(retain_graph=True)")).fixes
    assert fix.verdict.applicability is not Applicability.SAFE


@pytest.mark.apart("long")
def test_nothing_to_compare_is_said_with_what_allows_more(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "_LONGEST", 0.5)
    monkeypatch.setattr(requests, "_GLANCE", 0.2)
    report = pipeline.fix(script(tmp_path, ONCE, 0.0), registry.rules(), probe=probe, progress=lambda _: None)
    assert report.outcome is Outcome.AVAILABLE
    for fix in report.fixes:
        assert fix.verdict.applicability is Applicability.UNSAFE
        assert fix.verdict.effect is Effect.UNKNOWN
        assert "--budget" in fix.verdict.summary


WRITES = """
weight = torch.randn(SIZE, SIZE, requires_grad=True)
trained = torch.optim.SGD([weight], lr=0.01)
table = torch.randn(SIZE, SIZE)
for update in range(12):
    trained.zero_grad()
    hidden = torch.relu_(torch.tanh(table @ weight))
    kept = (hidden * table).exp().mean()
    table[1:3] += 1
    table.data[0] *= 0.5
    hidden[:, 1:2] = 0
    loss = kept + hidden.mean()
    if update > 5:
        loss.backward()
    loss.backward()
    trained.step()
"""


@pytest.mark.parametrize("size", [8, 600], ids=["small", "dear to copy"])
def test_copies_made_at_once_are_what_copies_made_before_a_write_are(probe: Probe, tmp_path: Path, size: int) -> None:
    target = script(tmp_path, WRITES.replace("SIZE", str(size)), 0.0)
    copied = reference(probe, target, watch_from=0, grace=60.0, budget=0.0)
    watched = reference(probe, target, watch_from=0, grace=60.0, budget=0.0, at_once=False)
    assert copied.outcome == watched.outcome == "finished"
    assert len(copied.steps) == 12
    assert copied.steps == watched.steps


SUMMED = """
import numpy as np
for update in range(1000):
    optimizer.zero_grad()
    losses = [second(first(torch.randn(8, 4))).square().mean() for _ in range(2)]
    np.sum(losses).backward()
    optimizer.step()
"""


def test_a_reading_ends_by_itself_where_the_script_dies_in_another_one(probe: Probe, tmp_path: Path) -> None:
    # As a constant the sum has no `backward`: where it keeps its graph is the first run that trains.
    report = pipeline.fix(script(tmp_path, SUMMED, 0.0), registry.rules(), probe=probe, progress=lambda _: None)
    assert report.fixes[0].verdict.applicability is Applicability.SAFE
    assert f"at {ENOUGH} steps" in report.fixes[0].verdict.summary


LATE = """
for epoch in range(5):
    for batch in range(300):
        optimizer.zero_grad()
        hidden = first(torch.randn(8, 4))
        hidden.square().mean().backward()
        if WHEN:
            second(hidden).square().mean().backward()
        optimizer.step()
    explore(0.01)
"""


@pytest.mark.parametrize(("when", "short"), [("epoch == 1", True), ("batch == 250", False)])
def test_a_late_failure_is_come_to_sooner_where_it_is_the_same(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str, *, short: bool
) -> None:
    monkeypatch.setattr(reproduce, "_LATE", 0.01)
    monkeypatch.setattr(reproduce, "_SOONER", 0.01)
    target = script(tmp_path, LATE.replace("WHEN", when), 0.0)
    found, trace = reproduce.reproduce(probe, target)
    assert found.setup.shorten == (reproduce._ITERATIONS_KEPT if short else 0)
    assert found.time_limit == target.time_limit
    assert (trace.backward_count < 50) is short
    assert trace.failure is not None
    report = pipeline.fix(target, registry.rules(), probe=probe, progress=lambda _: None)
    assert report.fixes[0].verdict.applicability is Applicability.SAFE
    assert any("was ended after" in condition for condition in report.conditions) is short


SLOW_AT_FIRST = """
first(torch.ones(1, 4)).sum().backward()
for _ in range(0 if os.path.exists("mark") else 30):
    explore(0.1)
open("mark", "w").close()
loss = first(torch.ones(1, 4)).sum()
loss.backward()
loss.backward()
"""


@pytest.mark.apart("long")
def test_a_long_run_tells_where_it_is(probe: Probe, tmp_path: Path) -> None:
    said: list[str] = []
    pipeline.fix(script(tmp_path, f"import os\n{SLOW_AT_FIRST}", 0.0), (), probe=probe, progress=said.append)
    assert any(text.startswith("running the script: 1 backward call, at train.py:") for text in said)


def test_the_first_safe_edit_is_told_when_it_is_known(probe: Probe, tmp_path: Path) -> None:
    known: list[int] = []
    told: list[str] = []
    target = script(tmp_path, SHARED, 0.0)
    report = pipeline.fix(
        target, registry.rules(), probe=probe, progress=told.append, found=lambda _fix: known.append(len(told))
    )
    assert report.fixes[0].verdict.applicability is Applicability.SAFE
    assert len(known) == 1


UNHOLD = """
class Trainer:
    def __init__(self):
        self.state = torch.zeros(8, 4)

    def train(self, *batch):
        optimizer.zero_grad()
        self.state = torch.tanh(first(batch[0]) + self.state)
        second(self.state).square().mean().backward()
        optimizer.step()


trainer = Trainer()
for update in range(6):
    trainer.train(torch.randn(8, 4))
"""


def test_what_holds_no_tensor_is_neither_cut_nor_copied(probe: Probe, tmp_path: Path) -> None:
    report = pipeline.fix(script(tmp_path, UNHOLD, 0.0), registry.rules(), probe=probe, progress=lambda _: None)
    assert report.fixes[0].verdict.applicability is Applicability.SAFE
    assert report.diagnosis is not None
    assert {"trainer", "optimizer", "first", "second"} <= {one.path for one in report.diagnosis.trace.plain}
    tried = [*report.fixes, *report.rejected]
    assert not [fix for fix in tried if b"trainer.detach" in fix.diff or b"optimizer.detach" in fix.diff]


IDLE = """
target = nn.Linear(4, 4)
unused = torch.optim.SGD(target.parameters(), lr=0.1)
for update in range(70):
    optimizer.zero_grad()
    hidden = first(torch.randn(8, 4))
    second(hidden).square().mean().backward()
    second(hidden).sum().backward()
    optimizer.step()
    if LATE:
        target(torch.randn(8, 4)).sum().backward()
        unused.step()
    explore(0.02)
"""


@pytest.mark.parametrize(("late", "counts"), [("False", (3, 0)), ("update > 67", (70, 2))])
def test_others_do_not_wait_for_an_optimizer_that_made_no_step(
    probe: Probe, tmp_path: Path, late: str, counts: tuple[int, ...]
) -> None:
    target = replace(script(tmp_path, IDLE.replace("LATE", late), 0.0), budget=60.0)
    trace = reference(probe, target, grace=0.0)
    assert (trace.counts, trace.hurried) == (counts, False)
    assert {step.optimizer for step in trace.steps} == {index for index, count in enumerate(counts) if count}


def test_where_runs_are_dear_an_edit_that_cuts_is_judged_behind_one_that_may_be_right(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {
        "_SLOW": 0.0,
        "_LEAST": 1e-9,
        "_TIMES": 1e-9,
        "_IN_VAIN": 1e12,
    }  # the first fix is the last
    for name, value in limits.items():
        monkeypatch.setattr(pool, name, value)
    target = replace(script(tmp_path, STEPPED, 0.0), budget=0.0)
    report = pipeline.fix(target, registry.rules(), probe=probe, progress=lambda _: None)
    (fix,) = report.fixes
    assert fix.verdict.effect.keeps_gradients


def test_where_runs_are_dear_a_cure_that_changes_no_step_so_far_is_tried_at_the_next_failure_first(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_SLOW", 0.0)
    report = pipeline.fix(script(tmp_path, IN_TURN, 0.0), registry.rules(), probe=probe, progress=lambda _: None)
    (fix,) = report.fixes
    assert (fix.candidate.rules, fix.verdict.effect) == (("AG108", "AG108"), Effect.IDENTICAL)
    assert all(len(one.candidate.rules) == 1 for one in report.rejected)


def test_a_slow_run_ends_and_a_round_of_it_too_behind_all_steps_of_a_pass(tmp_path: Path) -> None:
    target = Target(tmp_path / "train.py")
    steps = tuple(wire.Step(index, (), (), "") for index in (1, 1, 1, 0) * 3)
    first = wire.Trace(0, "stopped", counts=(3, 9), backward_count=12, steps=steps, past=60.0)
    builder = Builder(target, wire.Trace(0, "failed", counts=(0, 3), backward_count=4))
    reading = Reading()
    asked = builder.reference(RunSpec.reference(reading, Treatment.FROZEN), first, first)
    assert asked.stop_at == (12, 2, 6)
    assert asked.rounds == ((1, 3), (2, 6), (3, 9))
    whole = builder.reference(RunSpec.reference(reading, Treatment.FROZEN, Intervention.WHOLE), first, first)
    assert whole.stop_at == (12, 3, 9)
    at_rest = RunSpec.reference(reading, Treatment.STILL, Intervention.BRIEF)
    assert builder.reference(at_rest, first, first).stop_at == (12, 2, 6)
    even = replace(first, counts=(3, 3), steps=steps[2:4] * 3)
    assert builder.reference(RunSpec.reference(reading, Treatment.FROZEN), even, even).rounds == ()
    stepped = replace(builder, baseline=replace(builder.baseline, counts=(1, 1)))
    assert stepped.reference(at_rest, even, even).stop_at == (12, 2, 2)
