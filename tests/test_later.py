"""Repaired scripts that die later, of something else that they die of as they stand, too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from autofix import pipeline
from autofix.core.model import Applicability, Effect, Outcome, RunOutcome, Target
from autofix.experiments.pictures import Pictures
from autofix.render import machine, terminal
from autofix.render.report.page import as_html
from autofix.render.snapshot import Snapshot
from autofix.search.registry import rules

if TYPE_CHECKING:
    from pathlib import Path

    from autofix.core.model import Report
    from autofix.experiments.run import Probe

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


def write(tmp_path: Path, steps: int = 4, inside: str = "pass", end: str = "") -> Path:
    script = tmp_path / "train.py"
    script.write_text(TRAINED.format(steps=steps, inside=inside, end=end))
    return script


def fixed(probe: Probe, script: Path) -> Report:
    return pipeline.fix(Target(script, root=script.parent), rules(), probe=probe, progress=lambda _: None)


def verified(probe: Probe, script: Path, *changes: tuple[str, str]) -> Report:
    text = script.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    target = Target(script, root=script.parent)
    return pipeline.verify(target, {script: text.encode()}, probe=probe, progress=lambda _: None)


CUT = ("state = torch.tanh(net(x) + state)", "state = torch.tanh(net(x) + state.detach())")


@pytest.mark.parametrize(
    ("inside", "end", "dies"),
    [
        ("pass", "import a_package_that_nobody_has", ("ModuleNotFoundError", 16)),
        ("pass", "torch.load('weights.pt')", ("FileNotFoundError", 16)),
        ("pass", "sys.exit(1)", ("SystemExit", 16)),
        ("pass", "assert loss.item() > 100, f'bad loss {loss.item()}'", ("AssertionError", 16)),
        ("pass", "net(torch.zeros(2, 5))", ("RuntimeError", 16)),
        ("pass", "try:\n    open('missing.csv')\nexcept OSError:\n    sys.exit('no data')", ("FileNotFoundError", 17)),
        ("if step == 3: raise ValueError(f'{loss}')", "", ("ValueError", 15)),
    ],
)
def test_what_the_script_dies_of_afterwards_does_not_unmake_a_fix(
    probe: Probe, tmp_path: Path, inside: str, end: str, dies: tuple[str, int]
) -> None:  # fmt: skip
    report = fixed(probe, write(tmp_path, inside=inside, end=end))
    assert report.outcome is Outcome.AVAILABLE
    verdict = report.fixes[0].verdict
    assert (verdict.applicability, verdict.effect, verdict.run) == (
        Applicability.SAFE, Effect.TRUNCATED, RunOutcome.PASSED,
    )  # fmt: skip
    assert verdict.failure is not None
    assert (verdict.failure.type, verdict.failure.stack[0].line) == dies


def test_every_report_says_where_and_why_it_stops(probe: Probe, tmp_path: Path) -> None:
    script = write(tmp_path, end="import a_package_that_nobody_has")
    report = verified(probe, script, CUT)
    assert report.outcome is Outcome.SAFE
    snapshot = Snapshot(report)
    said = "train.py:16 for another reason: ModuleNotFoundError: No module named"
    (told,) = json.loads(machine.as_json(report, snapshot))["fixes"]
    assert (told["later"]["line"], told["later"]["type"]) == (16, "ModuleNotFoundError")
    assert said in told["later"]["words"]
    assert said in as_html(report, snapshot, Pictures())
    lines = terminal.lines(report, snapshot, terminal.Look())
    assert any(said in line.plain for line in lines)


def test_a_wrong_edit_is_no_better_for_what_comes_later(probe: Probe, tmp_path: Path) -> None:
    script = write(tmp_path, end="sys.exit(1)")
    report = verified(probe, script, CUT, ("loss = state.square().mean()", "loss = 2 * state.square().mean()"))
    assert report.outcome is Outcome.UNSAFE
    assert report.fixes[0].verdict.effect is Effect.CHANGED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    pass", "    assert step < 2"),
        ("sys.exit(1)", "net(torch.zeros(2, 5)); sys.exit(1)"),
        ("    pass", "    step == 2 and sys.exit(1)"),
    ],
)
def test_a_failure_that_only_the_edit_has_is_one(probe: Probe, tmp_path: Path, old: str, new: str) -> None:
    report = verified(probe, write(tmp_path, end="sys.exit(1)"), CUT, (old, new))
    assert report.outcome is Outcome.STILL_FAILING


def test_an_edit_that_lets_a_script_end_well_is_judged_as_ever(probe: Probe, tmp_path: Path) -> None:
    report = verified(probe, write(tmp_path, end="sys.exit(1)"), CUT, ("sys.exit(1)", "print('done')"))
    assert report.outcome is Outcome.UNSAFE


def test_without_a_step_after_the_failure_nothing_is_known(probe: Probe, tmp_path: Path) -> None:
    inside = "step == 1 and sys.exit(1)"
    script = write(tmp_path, inside=inside)
    script.write_text(script.read_text().replace("    optimizer.step()\n", "    step < 1 and optimizer.step()\n"))
    report = verified(probe, script, CUT)
    assert report.outcome is Outcome.UNSAFE
    assert report.fixes[0].verdict.effect is Effect.UNKNOWN
