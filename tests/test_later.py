"""Repaired scripts that die later, of something else that they die of as they stand, too."""

from __future__ import annotations

import json

import pytest
from sampled import row_in
from scripts import Scripts, changed

from autofix.core.model import Applicability, Effect, Outcome, RunOutcome
from autofix.experiments.pictures import Pictures
from autofix.render import machine, terminal
from autofix.render.report.page import as_html
from autofix.render.snapshot import Snapshot

pytestmark = pytest.mark.torch

TRAINED = """\
import sys
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, state = torch.randn(8, 4), torch.zeros(8, 4)
for step in range({steps}):
    state = torch.tanh(net(x) + state)
    loss = state.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {inside}
{end}
"""


def text(steps: int = 4, inside: str = "pass", end: str = "") -> str:
    return TRAINED.format(steps=steps, inside=inside, end=end)


CUT = ("state = torch.tanh(net(x) + state)", "state = torch.tanh(net(x) + state.detach())")


@pytest.mark.parametrize(
    ("inside", "end", "dies"),
    row_in(
        2,
        [
            ("pass", "import a_package_that_nobody_has", ("ModuleNotFoundError", 16)),
            ("pass", "torch.load('weights.pt')", ("FileNotFoundError", 16)),
            ("pass", "sys.exit(1)", ("SystemExit", 16)),
            ("pass", "assert loss.item() > 100, f'bad loss {loss.item()}'", ("AssertionError", 16)),
            ("pass", "net(torch.zeros(2, 5))", ("RuntimeError", 16)),
            (
                "pass",
                "try:\n    open('missing.csv')\nexcept OSError:\n    sys.exit('no data')",
                ("FileNotFoundError", 17),
            ),
            ("if step == 3: raise ValueError(f'{loss}')", "", ("ValueError", 15)),
        ],
    ),
)
def test_what_the_script_dies_of_afterwards_does_not_unmake_a_fix(
    script: Scripts, inside: str, end: str, dies: tuple[str, int]
) -> None:  # fmt: skip
    report = script(text(inside=inside, end=end)).fix()
    assert report.outcome is Outcome.AVAILABLE
    verdict = report.fixes[0].verdict
    assert (verdict.applicability, verdict.effect, verdict.run) == (
        Applicability.SAFE, Effect.TRUNCATED, RunOutcome.PASSED,
    )  # fmt: skip
    assert verdict.failure is not None
    assert (verdict.failure.type, verdict.failure.stack[0].line) == dies


def test_every_report_says_where_and_why_it_stops(script: Scripts) -> None:
    report = script(text(end="import a_package_that_nobody_has")).verify(CUT)
    assert report.outcome is Outcome.SAFE
    snapshot = Snapshot(report)
    said = "train.py:16, which the edit does not cause: ModuleNotFoundError: No module named"
    (told,) = json.loads(machine.as_json(report, snapshot))["fixes"]
    assert (told["later"]["line"], told["later"]["type"]) == (16, "ModuleNotFoundError")
    assert said in told["later"]["words"]
    assert said in as_html(report, snapshot, Pictures())
    lines = terminal.lines(report, snapshot, terminal.Look())
    assert any(said in line.plain for line in lines)


def test_a_wrong_edit_is_no_better_for_what_comes_later(script: Scripts) -> None:
    doubled = ("loss = state.square().mean()", "loss = 2 * state.square().mean()")
    verdict = script(text(end="sys.exit(1)")).verdict(CUT, doubled)
    assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.CHANGED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    pass", "    assert step < 2"),
        ("sys.exit(1)", "net(torch.zeros(2, 5)); sys.exit(1)"),
        ("    pass", "    step == 2 and sys.exit(1)"),
    ],
)
def test_a_failure_that_only_the_edit_has_is_one(script: Scripts, old: str, new: str) -> None:
    report = script(text(end="sys.exit(1)")).verify(CUT, (old, new))
    assert report.outcome is Outcome.STILL_FAILING


def test_an_edit_that_lets_a_script_end_well_is_judged_as_ever(script: Scripts) -> None:
    report = script(text(end="sys.exit(1)")).verify(CUT, ("sys.exit(1)", "print('done')"))
    assert report.outcome is Outcome.UNSAFE


def test_without_a_step_after_the_failure_nothing_is_known(script: Scripts) -> None:
    once = ("    optimizer.step()\n", "    step < 1 and optimizer.step()\n")
    verdict = script(changed(text(inside="step == 1 and sys.exit(1)"), once)).verdict(CUT)
    assert (verdict.applicability, verdict.effect) == (Applicability.UNSAFE, Effect.UNKNOWN)


LOGGED = """\
import torch

net = torch.nn.Linear(3, 1)
try:
    for _ in range(3):
        out = torch.sigmoid(net(torch.randn(4, 3)))
        out += 1
        out.mean().backward()
except RuntimeError as error:
    print("failed:", error)
    raise error
"""


def test_a_failure_that_is_logged_and_raised_again_is_where_it_was_raised(script: Scripts) -> None:
    diagnosis = script(LOGGED).fix().diagnosis
    assert diagnosis is not None
    assert [frame.line for frame in diagnosis.failure.stack] == [8]
