"""A tracing run that watches only the passes near the failure tells what one that watches all of them tells."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sampled import one_in
from scripts import Script, Scripts

from autofix.core.model import Cause, Outcome, Reading
from autofix.experiments.pool import Pool
from autofix.experiments.requests import watch_from
from autofix.experiments.spec import RunSpec
from autofix.probe import wire
from autofix.search import registry

pytestmark = pytest.mark.torch

BEGINNING = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
head = nn.Linear(2, 1)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.01)
old = model(torch.ones(3, 6))
"""
FREED = """
for step in range(100):
    out = model(torch.randn(3, 6))
    optimizer.zero_grad()
    out.mean().backward()
    if step > 80:
        head(out).sum().backward()
    optimizer.step()
"""
MODIFIED = """
for step in range(100):
    hidden = torch.sigmoid(model(torch.randn(3, 6)))
    if step > 80:
        hidden += 1
    optimizer.zero_grad()
    head(hidden).sum().backward()
    optimizer.step()
"""
CARRIED = """
state = torch.zeros(3, 2)
for step in range(100):
    state = torch.tanh(model(torch.randn(3, 6)) + (state if step > 80 else state.detach()))
    optimizer.zero_grad()
    head(state).sum().backward()
    optimizer.step()
"""
MADE_AT_FIRST = """
for step in range(100):
    optimizer.zero_grad()
    head(model(torch.randn(3, 6))).sum().backward()
    if step > 80:
        (head(old).sum() + old.square().sum()).backward()
    optimizer.step()
"""
IN_A_MODE = """
from torch.utils._python_dispatch import TorchDispatchMode


class Counting(TorchDispatchMode):
    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        Counting.count += 1
        return func(*args, **(kwargs or {}))


with Counting():
""" + FREED.replace("\n", "\n    ").rstrip(" ")
# Off the stack while it handles `backward`, and so above what is entered then.
IN_A_FUNCTION_MODE = (
    """
from torch.overrides import TorchFunctionMode


class Doubling(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return 2 * out if func is torch.tanh else out


with Doubling():
"""
    + FREED.replace("\n", "\n    ").rstrip(" ")
    + """
print(torch.tanh(torch.ones(1)))
"""
)
WITH_HOOKS = "with torch.autograd.graph.save_on_cpu():\n" + FREED.replace("\n", "\n    ").rstrip(" ")
WITHOUT_HOOKS = 'with torch.autograd.graph.disable_saved_tensors_hooks("none, please"):\n' + FREED.replace(
    "\n", "\n    "
).rstrip(" ")
# The part that is older than all passes is reached last.
TOO_LARGE = """
head(old).sum().backward(retain_graph=True)
for step in range(100):
    optimizer.zero_grad()
    head(model(torch.randn(3, 6))).sum().backward()
    optimizer.step()
total = model(torch.randn(3, 6)).sum()
for _ in range(210_000):
    total = total + 1
(head(old).sum() + total).backward()
"""


def reference(train: Script, baseline: wire.Trace) -> wire.Trace:
    """The reference that a repair compares with, with passes enough to come to its end on any machine."""
    with Pool(train.probe, replace(train.target, passes=60), baseline) as pool:
        return pool.get(RunSpec.reference(Reading()))


@pytest.mark.parametrize("body", [FREED, MODIFIED, CARRIED], ids=["freed", "modified", "carried"])
def test_a_late_look_sees_what_a_look_from_the_start_sees(script: Scripts, body: str) -> None:
    train = script(BEGINNING + body)
    baseline = train.run()
    assert watch_from(baseline) > 0
    late, whole = train.traced(baseline), train.traced(baseline, watch_from=0)
    assert not late.late
    assert late.saved
    for name in ("failure", "saved", "crossings", "earlier", "step_sites", "origins"):
        assert getattr(late, name) == getattr(whole, name)


def test_a_graph_that_was_made_at_first_is_watched_from_the_start(script: Scripts) -> None:
    train = script(BEGINNING + MADE_AT_FIRST)
    baseline = train.run()
    assert watch_from(baseline) == 0
    assert [frame.line for saved in train.traced(baseline).saved for frame in saved.made] == [9]


def test_a_graph_that_is_too_large_to_be_seen_whole_is_watched_from_the_start(script: Scripts) -> None:
    baseline = script(BEGINNING + TOO_LARGE).run()
    assert baseline.failure is not None
    assert baseline.failure.in_backward
    assert watch_from(baseline) == 0


def test_where_torch_does_not_tell_of_hooks_the_look_is_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from autofix.probe.instruments.late import Late  # noqa: PLC0415  imports torch

    monkeypatch.delattr(torch._C._autograd, "_top_saved_tensors_default_hooks", raising=False)
    entered: list[bool] = []
    late = Late(wire.Request(0, "trace", "", (), "", "", watch_from=7), lambda: entered.append(True))
    assert entered
    assert not late.missed(9)


@pytest.mark.parametrize(
    "body",
    one_in(3, [IN_A_MODE, WITH_HOOKS, WITHOUT_HOOKS]),
    ids=["mode", "hooks", "no hooks"],
)
def test_where_the_script_has_a_mode_of_its_own_the_look_is_from_the_start(script: Scripts, body: str) -> None:
    train = script(BEGINNING + body)
    baseline = train.run()
    assert watch_from(baseline) > 0
    late, whole = train.traced(baseline), train.traced(baseline, watch_from=0)
    assert late.late
    assert not whole.late
    report = train.fix(*registry.select(["AG201"], ()))
    assert report.outcome is Outcome.AVAILABLE
    assert report.diagnosis is not None
    assert report.diagnosis.cause is Cause.FREED_GRAPH
    assert report.diagnosis.trace.saved == whole.saved


OLD_ONE_LATER = FREED.replace(
    "    optimizer.step()", "    if step > 82:\n        head(old).sum().backward()\n    optimizer.step()"
)


@pytest.mark.parametrize(
    "body",
    [FREED, MODIFIED, CARRIED, OLD_ONE_LATER, IN_A_FUNCTION_MODE],
    ids=["freed", "modified", "carried", "old one later", "in a mode"],
)
def test_a_reference_that_looks_late_describes_the_same_gradients(script: Scripts, body: str) -> None:
    train = script(BEGINNING + body)
    baseline = train.run()
    assert watch_from(baseline) > 0
    late = reference(train, baseline)
    from_the_start = replace(baseline, failure=replace(baseline.failure, oldest=0) if baseline.failure else None)
    whole = reference(train, from_the_start)
    assert late.outcome == whole.outcome != "failed"
    assert len(late.steps) > 80
    for name in ("steps", "finals", "states", "segments", "reaches", "derivatives", "carried", "reused", "stdout"):
        assert getattr(late, name) == getattr(whole, name)
    assert set(late.facts) == set(whole.facts)


BY_HAND = """
state = torch.zeros(2)
weight = torch.ones(2, requires_grad=True)
for step in range(100):
    state = (state if step < 30 else state.detach()) + (weight * torch.randn(2)).tanh()
    hidden = torch.sigmoid(1 * state)
    if step > 80:
        hidden += 1
    hidden.sum().backward(retain_graph=step < 30)
    with torch.no_grad():
        weight -= 0.01 * weight.grad
"""


def test_a_reference_sees_all_steps_that_are_made_by_hand(script: Scripts) -> None:
    train = script(BEGINNING + BY_HAND)
    baseline = train.run()
    assert watch_from(baseline) > 0
    assert reference(train, baseline).carried


HUNGRY = """
import resource
import torch
weight = torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(6):
    out = weight * torch.ones(1 << 23) * weight
    optimizer.zero_grad()
    out.sum().backward()
    optimizer.step()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_a_reference_lets_go_of_the_results_that_the_script_lets_go_of(script: Scripts) -> None:
    """Within one run: what a fork starts with depends on what its server has done before."""
    trace = script(HUNGRY).run("reference")
    assert trace.outcome == "finished"
    peaks = [int(line) << 10 for line in trace.stdout.splitlines()]
    assert peaks[5] < peaks[1] + (60 << 20)
