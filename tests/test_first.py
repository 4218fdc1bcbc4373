"""Failures that everybody meets, where the first idea does not help; those of `fixtures/first` are in test_fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import Scripts
from training import added

from autofix import pipeline
from autofix.core.model import Applicability, Effect, Outcome, Target

FIXTURES = Path(__file__).parent.parent / "fixtures" / "first"
JUDGED_ONCE = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
first, last, critic = nn.Linear(4, 8), nn.Linear(8, 6), nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
maker = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.05)
judge = torch.optim.SGD(critic.parameters(), lr=0.05)
for _ in range(6):
    hidden = F.relu(first(torch.randn(8, 4)))
    scores = critic(last(hidden))
    loss = F.softplus(-critic(torch.randn(8, 6))).mean() + F.softplus(scores).mean()
    judge.zero_grad()
    loss.backward()
    judge.step()
    maker.zero_grad()
    F.softplus(-scores).mean().backward()
    maker.step()
"""

MASKED_TWICE = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(4):
    now, later = torch.randn(8, 4), torch.randn(8, 4)
    here, there = net(now).sigmoid(), net(later).sigmoid()
    here[now[:, 0] > 0] = 0.0
    there[later[:, 0] > 0] = 0.0
    opt.zero_grad()
    (here - there).square().mean().backward()
    opt.step()
"""


@pytest.mark.torch
def test_a_cure_that_leaves_another_spoiled_tensor_behind_is_built_upon(script: Scripts) -> None:
    fix = script(MASKED_TWICE).fix().fixes[0]
    assert fix.verdict.applicability is Applicability.SAFE
    assert sorted(line.strip() for line in added(fix)) == ["here = here.clone()", "there = there.clone()"]


@pytest.mark.torch
def test_many_places_for_a_detach_leave_room_for_the_way_that_works(script: Scripts) -> None:
    fixes = script(JUDGED_ONCE).fix().fixes
    safe = [fix for fix in fixes if fix.verdict.applicability is Applicability.SAFE]
    assert {fix.verdict.effect for fix in safe} == {Effect.REFRESHED, Effect.IDENTICAL}
    assert all(".detach()" not in line for fix in safe for line in added(fix))


def test_an_interpreter_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    target = Target(FIXTURES / "ends_well" / "broken.py", python=tmp_path / "no-python")
    report = pipeline.fix(target, (), progress=lambda _: None)
    assert report.outcome is Outcome.CANNOT_RUN
    assert "no-python" in report.message
