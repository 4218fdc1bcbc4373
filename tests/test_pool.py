"""The pool makes each run once, in whatever order runs are asked for, and begins early what will be asked for."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autofix import pipeline
from autofix.core.model import Applicability, Effect, Outcome, Reading, Target, Treatment
from autofix.experiments import requests
from autofix.experiments.client import Probe, run
from autofix.experiments.pool import Pool, _ended_early
from autofix.experiments.requests import plain
from autofix.experiments.spec import UNEDITED, Intervention, RunSpec
from autofix.pipeline import first
from autofix.probe import wire
from autofix.search import registry
from autofix.verdict.decide import ENDED_EARLY
from autofix.verdict.runs import once

pytestmark = pytest.mark.torch

FREED = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    out = model(torch.randn(5, 4))
    optimizer.zero_grad()
    out.square().mean().backward()
    out.abs().mean().backward()
    optimizer.step()
"""
ONLY_AT_ONE = FREED.replace(
    "out.abs()", "out = out if float(weight[0]) == 1 else model(torch.randn(5, 4))\n    out.abs()"
)
ONLY_AT_ONE = ONLY_AT_ONE.replace(
    "optimizer = torch.optim.SGD(model.parameters()",
    "weight = nn.Parameter(torch.ones(1))\noptimizer = torch.optim.SGD([*model.parameters(), weight]",
)
TARGETED = FREED.replace("out.abs().mean()", "nn.functional.mse_loss(out, model(torch.ones(5, 4)))")
COLLECTED = FREED.replace("    out = model", "    out = model(torch.ones(5, 4)) if len(kept) else model").replace(
    "out.abs()", "kept.append(out)\n    (ANEW * kept[0]).abs()"
)
RECORDED = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []
for _ in range(6):
    for _ in range(3):
        kept.append(model(torch.randn(4)).log_softmax(-1)[0])
    optimizer.zero_grad()
    sum(a * b for a, b in zip(kept, torch.randn(3))).backward()
    optimizer.step()
"""
FIRST = RunSpec.reference(Reading())
FROZEN = RunSpec.reference(Reading(), Treatment.FROZEN)
AGAIN = RunSpec.reference(Reading(), intervention=Intervention.REPEATED)


class Counting:
    """A probe that keeps what was asked of it."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.asked: list[wire.Request] = []

    def submit(self, request: wire.Request) -> int:
        self.asked.append(request)
        return self.probe.submit(request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.probe, name)


def started(probe: Probe, folder: Path, text: str) -> tuple[Counting, Target, wire.Trace]:
    """A script, and its first run."""
    script = folder / "train.py"
    script.write_text(text)
    target = Target(script)
    return Counting(probe), target, run(probe, plain(target))


def edit(target: Target, text: str) -> dict[Path, bytes]:
    """The script with its first backward so."""
    old = target.script.read_text()
    return {target.script: old.replace("out.square().mean().backward()", text).encode()}


@pytest.mark.parametrize("turned", [False, True])
def test_runs_are_the_same_in_whatever_order_they_are_asked_for(probe: Probe, tmp_path: Path, *, turned: bool) -> None:
    counting, target, baseline = started(probe, tmp_path, FREED)
    right = RunSpec.edited(edit(target, "out.square().mean().backward(retain_graph=True)"))
    specs = [FIRST, FROZEN, right, UNEDITED, AGAIN]
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]  it answers as one
        traces = {spec: pool.get(spec) for spec in (reversed(specs) if turned else specs)}
        assert [pool.get(spec) for spec in specs] == [traces[spec] for spec in specs]
    assert len(counting.asked) == len(specs)
    assert traces[FIRST].steps == traces[AGAIN].steps
    assert [step.gradients for step in traces[right].steps] == [step.gradients for step in traces[FIRST].steps]
    assert traces[UNEDITED].outcome == "failed"


@pytest.mark.parametrize(("more", "again"), [("", 0), ("model(torch.ones(5, 4)).sum().backward()", 1)])
def test_where_one_reference_has_to_be_watched_from_its_start_the_next_is_at_once(
    probe: Probe, tmp_path: Path, more: str, again: int
) -> None:
    text = FREED.replace("    out.abs()", f"    {more}\n    if n: out.abs()").replace("for _", "for n")
    counting, target, baseline = started(probe, tmp_path, text)
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        traces = [pool.get(spec) for spec in (FIRST, AGAIN)]
    assert traces[0].steps[: len(traces[1].steps)] == traces[1].steps
    assert [one.mode for one in counting.asked].count("reference") == 2 + again


@pytest.mark.parametrize(("text", "perturbed"), [(FREED, True), (ONLY_AT_ONE, False)])
def test_runs_start_where_the_script_does_only_where_it_fails_only_there(
    probe: Probe, tmp_path: Path, text: str, *, perturbed: bool
) -> None:
    counting, target, baseline = started(probe, tmp_path, text)
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        assert pool.same_failure(pool.get(UNEDITED))
        assert pool.unproven == ""
        assert pool.get(FIRST).outcome == "finished"
    assert [one.perturbed for one in counting.asked][-1] is perturbed


def test_what_comes_next_is_begun_while_a_run_is_waited_for(probe: Probe, tmp_path: Path) -> None:
    counting, target, baseline = started(probe, tmp_path, FREED)
    one, two = (
        RunSpec.edited(edit(target, f"({n} * out).square().mean().backward(retain_graph=True)")) for n in (2, 3)
    )
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        pool.look_ahead([lambda: pool.get(two)])
        pool.get(one)
        begun = len(counting.asked)
        assert pool.get(two).outcome == "finished"
        assert len(counting.asked) == begun
        pool.look_ahead([])
        pool.drop(dict(two.files))
        assert pool.made(two) is not None


def test_what_several_judgements_ask_for_begins_before_any_is_waited_for(probe: Probe, tmp_path: Path) -> None:
    counting, target, baseline = started(probe, tmp_path, FREED)
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        pool.get(FIRST)
        held = pool.made(FIRST)
        waited: list[int] = []
        wait = probe.wait
        counting.wait = lambda *asked: waited.append(len(counting.asked)) or wait(*asked)  # type: ignore[attr-defined]
        before = len(counting.asked)
        found = pool.together([lambda: held, lambda: pool.get(AGAIN), lambda: pool.get(FROZEN)])
        assert found == [held, pool.made(AGAIN), pool.made(FROZEN)]
        assert len(counting.asked) == waited[0] == before + 2


def test_what_a_judgement_asks_for_next_begins_while_another_one_waits(probe: Probe, tmp_path: Path) -> None:
    counting, target, baseline = started(probe, tmp_path, FREED)
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        pool.get(FIRST)
        order: list[str] = []

        def waits() -> None:
            pool.get(AGAIN)
            while pool.made(FROZEN) is None and not probe.ended(pool._runs.begun[FROZEN][0]):
                pass
            order.append("one")
            pool.get(replace(FROZEN, intervention=Intervention.REPEATED))

        def follows() -> None:
            pool.get(FROZEN)
            order.append("two")
            pool.get(replace(FIRST, intervention=Intervention.DOUBLED))

        pool.together([waits, follows])
        kinds = [(one.frozen, one.doubled >= 0) for one in counting.asked]
    assert kinds[-3:] == [(True, False), (True, False), (False, True)]
    assert order == ["one", "two", "two"], "it is asked again while the other one waits"


def test_what_no_edit_is_judged_without_begins_before_any_edit_is_known(probe: Probe, tmp_path: Path) -> None:
    counting, target, baseline = started(probe, tmp_path, FREED)
    diagnosis = first.diagnosis(probe, target, baseline, {})
    assert diagnosis is not None
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        pool.about(diagnosis)
        assert [one.mode for one in counting.asked] == ["reference", "candidate"]
        assert not pool.unproven
        assert len(counting.asked) == 2


@pytest.mark.parametrize(("lacks", "more"), [("a second step", False), ("", True)])
def test_where_nothing_can_be_compared_no_run_tells_what_is_meant(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str, *, more: bool
) -> None:
    text = FREED.replace("out.square()", "(out - out.numpy().sum()).square()").replace(
        "    out.abs().mean().backward()\n", ""
    )
    monkeypatch.setattr(requests.Builder, "too_few", lambda _builder, _first: lacks)
    counting, target, baseline = started(probe, tmp_path, text)
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        assert pool.letters.first == Reading()
    assert ([one.mode for one in counting.asked].count("reference") > 1) is more


def test_what_is_at_hand_begins_no_run(probe: Probe, tmp_path: Path) -> None:
    counting, target, baseline = started(probe, tmp_path, FREED)
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        held = pool.get(FIRST)
        begun = len(counting.asked)
        assert pool.at_hand(lambda: pool.get(FIRST)) is held
        assert pool.at_hand(lambda: pool.get(FROZEN)) is None
        assert len(counting.asked) == begun
        assert pool.get(FROZEN).ended_well


@pytest.mark.parametrize(("slow", "drifting"), [(True, False), (False, True)])
def test_a_slow_script_makes_no_runs_with_drift_for_an_edit_that_departs_at_rest(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, slow: bool, drifting: bool
) -> None:
    monkeypatch.setattr("autofix.experiments.pool._SLOW", 0.0 if slow else 1e9)
    counting, target, _ = started(probe, tmp_path, RECORDED)
    files = {target.script: (RECORDED + "    kept.clear()\n").encode()}
    report = pipeline.verify(target, files, ours=True, probe=counting, progress=str)  # type: ignore[arg-type]
    assert (report.outcome, report.fixes[0].verdict.effect) == (Outcome.UNSAFE, Effect.CHANGED)
    assert any(one.frozen and not one.still for one in counting.asked) is drifting


def test_what_is_dropped_is_made_anew_when_it_is_asked_for(probe: Probe, tmp_path: Path) -> None:
    counting, target, baseline = started(probe, tmp_path, FREED)
    spec = RunSpec.edited(edit(target, "out.square().mean().backward(retain_graph=True)"))
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        pool.expect(spec)
        pool.drop(dict(spec.files))
        assert pool.made(spec) is None
        assert pool.get(spec).outcome == "finished"


@pytest.mark.parametrize(("text", "watched"), [(FREED, 0), (TARGETED, 1)])
def test_an_edit_that_is_plainly_the_same_is_judged_by_few_runs(
    probe: Probe, tmp_path: Path, text: str, watched: int
) -> None:
    counting, target, _ = started(probe, tmp_path, text)
    right = edit(target, "out.square().mean().backward(retain_graph=True)")
    report = pipeline.verify(target, right, ours=True, probe=counting, progress=str)  # type: ignore[arg-type]
    assert report.outcome is Outcome.SAFE
    # A further reference: does the second loss depend on what the first backward left? And, where a loss holds
    # two results against each other, is that what a later backward meets?
    modes = ["baseline", "candidate", "candidate", "reference", "reference", "trace"]
    assert sorted(one.mode for one in counting.asked) == sorted([*modes, *["reference"] * watched])
    assert (sum(one.doubled >= 0 for one in counting.asked), sum(one.sources for one in counting.asked)) == (1, watched)


@pytest.mark.parametrize(
    ("stop_at", "most", "trace", "early"),
    [
        ((4, 2, 2), (), wire.Trace(1, "stopped", backward_count=1, counts=(1, 0)), True),
        ((4, 2, 2), (), wire.Trace(1, "stopped", backward_count=1, counts=(1,)), True),
        ((4, 2, 2), (), wire.Trace(1, "stopped", backward_count=4, counts=(2, 2)), False),
        ((4, 2, 2), (), wire.Trace(1, "stopped", backward_count=3, counts=(2, 2)), False),
        ((4, 2, 2), (), wire.Trace(1, "stopped", backward_count=80, counts=(0, 0)), False),
        ((4, 2, 2), (), wire.Trace(1, "stopped", backward_count=1, counts=(1, 0), parted=True), False),
        ((4, 2, 2), (), wire.Trace(1, "finished", backward_count=1, counts=(1, 0)), False),
        ((4,), (), wire.Trace(1, "stopped", backward_count=1), True),
        ((), (62,), wire.Trace(1, "stopped", backward_count=2, counts=(2,)), True),
        ((), (62,), wire.Trace(1, "stopped", backward_count=63, counts=(63,)), False),
        ((), (), wire.Trace(1, "stopped", backward_count=2, counts=(2,)), False),
        ((), (), wire.Trace(1, "timed_out"), True),
    ],
)
def test_a_run_that_time_ended_is_told_from_one_that_came_to_its_end(
    stop_at: tuple[int, ...], most: tuple[int, ...], trace: wire.Trace, *, early: bool
) -> None:
    asked = replace(plain(Target(Path("train.py"))), stop_at=stop_at, most=most)
    assert _ended_early(asked, trace) is early


@pytest.mark.parametrize("early", [True, False])
def test_an_edit_is_not_safe_where_a_run_of_the_code_did_not_come_to_its_end(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, early: bool
) -> None:
    monkeypatch.setattr("autofix.experiments.pool._ended_early", lambda asked, _: early and asked.mode == "reference")
    _, target, _ = started(probe, tmp_path, FREED)
    verdict = pipeline.fix(target, registry.rules(), probe=probe, progress=lambda _: None).fixes[0].verdict
    found = [finding.property for finding in verdict.findings], verdict.applicability
    assert found == (([ENDED_EARLY], Applicability.UNSAFE) if early else ([], Applicability.SAFE))


@pytest.mark.parametrize(("used", "anew"), [("out.sum()", True), ("1.0", False)])
def test_what_is_collected_is_no_data_where_a_pass_applies_nothing_anew(
    probe: Probe, tmp_path: Path, used: str, *, anew: bool
) -> None:
    text = (
        COLLECTED.replace("for _", "kept = []\nfor _")
        .replace("out.square().mean().backward()", "")
        .replace("ANEW", used)
    )
    _, target, baseline = started(probe, tmp_path, text)
    with Pool(probe, target, baseline) as pool:
        letter = pool.get(FIRST)
    assert (bool(letter.reused), letter.anew) == (True, anew)


@pytest.mark.parametrize(("passes", "begun"), [(3, False), (4, True)])
def test_what_only_the_last_pass_took_is_left_out_where_it_would_be_a_constant(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: int, *, begun: bool
) -> None:
    monkeypatch.setattr(requests, "GRACE", 0.0)
    text = COLLECTED.replace("for _ in range(6):", "kept = []\nfor n in range(99):\n    if n == 4: kept.clear()")
    _, target, baseline = started(
        probe, tmp_path, text.replace("out.square().mean().backward()", "").replace("ANEW", "1")
    )
    with Pool(probe, replace(target, passes=passes), baseline) as pool:
        letter, constant = pool.get(FIRST), pool.get(RunSpec.reference(Reading(constant=True)))
    assert (letter.begun, letter.counts, constant.counts) == (begun, (1 + passes,), (1 + passes - begun,))


class Crossed:
    """Each of its two properties asks for the other of another object, when both are under way."""

    def __init__(self, barrier: threading.Barrier | None = None) -> None:
        self.barrier = barrier

    @once
    def first(self) -> int:
        if self.barrier is None:
            return 1
        self.barrier.wait(10)
        return Crossed().second

    @once
    def second(self) -> int:
        if self.barrier is None:
            return 2
        self.barrier.wait(10)
        return Crossed().first


def test_two_repairs_in_two_threads_do_not_wait_for_each_other() -> None:
    barrier = threading.Barrier(2)
    one, other = Crossed(barrier), Crossed(barrier)
    found: list[int] = []
    asks = (lambda: found.append(one.first), lambda: found.append(other.second))
    threads = [threading.Thread(target=ask, daemon=True) for ask in asks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(found) == [1, 2]
    assert one.first == 2


def test_a_failure_is_the_same_only_where_it_was(probe: Probe, tmp_path: Path) -> None:
    again = "    out.abs().mean().backward()\n"
    counting, target, baseline = started(probe, tmp_path, FREED.replace(again, again * 2))
    moved, cured = edit(target, "1; out.square().mean().backward()"), edit(target, "1")
    below = {target.script: target.read(target.script).replace(b"    out =", b"    # below\n    out =")}
    with Pool(counting, target, baseline) as pool:  # type: ignore[arg-type]
        same = [pool.same_failure(pool.get(RunSpec.edited(files)), files) for files in (moved, below, cured)]
    assert same == [True, True, False]
