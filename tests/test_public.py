"""What public programs showed: a step that is a whole training, one candidate by several ways, writes on the line."""

from __future__ import annotations

import re

import pytest
from training import Repairs, added, safe

from autofix.core.model import Cause

pytestmark = pytest.mark.torch

WHOLE_TRAINING = """\
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1, bias=False))
x = torch.linspace(-1, 1, 20).view(-1, 1).requires_grad_()
opt = torch.optim.LBFGS(net.parameters(), max_iter=100_000_000, tolerance_grad=0, tolerance_change=-1)


def closure():
    opt.zero_grad()
    u = net(x)
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), retain_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    loss = (u_xx + u).pow(2).mean() + (u[0] - 1).pow(2).sum() + u_x[0].pow(2).sum()
    loss.backward()
    return loss


opt.step(closure)
"""
GIVEN_NONE = """\
import torch


def unit(d):
    return d / d.norm()


torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    d = unit(torch.randn(5, 3).requires_grad_())
    net(x + d).tanh().pow(2).sum().backward()
    d = unit(d.grad)
    opt.zero_grad()
    net(x + 0.1 * d).tanh().pow(2).mean().backward()
    opt.step()
"""
FLAGGED = """\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 3).requires_grad_(False)


def distance(x):
    return (1 - net(x).detach().softmax(1)[:, 0]).max()


x = torch.randn(2, 4)
for _ in range(3):
    x = x.detach().requires_grad_()
    loss = distance(x).requires_grad_(True)
    x = x - torch.autograd.grad(loss, [x], retain_graph=True)[0]
    print(loss.item(), x.norm().item())
"""
KEPT = """\
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters())
scores, rewards = [], []


def act(state):
    score = net(state)
    scores.append(score)
    rewards.append(float(state.sum()))


def finish():
    losses = [score * reward for score, reward in zip(scores, rewards)]
    opt.zero_grad()
    torch.cat(losses).sum().backward()
    opt.step()


for episode in range(4):
    for _ in range(3):
        act(torch.randn(2))
    finish()
"""
ON_ONE_LINE = """\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = torch.tanh(net(torch.ones(2, 3))).add_(1.0).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_step_that_is_the_whole_training_is_ended_and_told(repaired: Repairs) -> None:
    report = repaired(WHOLE_TRAINING, select=["AG407"])
    (line,) = added(safe(report))
    assert line == "u_x = torch.autograd.grad(u, x, torch.ones_like(u), retain_graph=True, create_graph=True)[0]"
    ended = re.compile(r"each step of LBFGS was ended after \d+ of its 100000000 iterations")
    assert any(map(ended.fullmatch, report.conditions)), report.conditions


def test_a_gpu_that_is_chosen_before_anything_is_put_there_is_done_without(repaired: Repairs) -> None:
    report = repaired(f"import torch\n\ntorch.cuda.set_device('cuda:0')\n{ON_ONE_LINE}", select=["AG101"])
    assert ".add(1.0)" in added(safe(report))[0]


def test_edits_that_come_to_the_same_files_are_tried_once(repaired: Repairs) -> None:
    report = repaired(KEPT, select=["AG201", "AG202", "AG203"])
    files = [frozenset(fix.candidate.files.items()) for fix in (*report.fixes, *report.rejected)]
    assert len(files) > 1
    assert len(set(files)) == len(files)


def test_a_write_on_the_line_that_saved_what_it_spoils_is_named(repaired: Repairs) -> None:
    report = repaired(ON_ONE_LINE, select=["AG101"])
    assert report.diagnosis is not None
    assert ("written", 7) in {(culprit.role, culprit.frame.line) for culprit in report.diagnosis.culprits}
    fix = safe(report)
    assert ".add(1.0)" in added(fix)[0]
    assert fix.candidate.whys[0].startswith("The result becomes a new tensor")


def test_a_gradient_that_is_none_may_be_given_to_a_function_that_dies_of_it(repaired: Repairs) -> None:
    report = repaired(GIVEN_NONE, select=["AG302"])
    assert report.diagnosis is not None
    assert report.diagnosis.cause is Cause.NONLEAF_GRADIENT
    assert "requires_grad_()" in "".join(added(safe(report)))


def test_a_loss_that_was_cut_and_then_flagged_is_one_without_a_graph(repaired: Repairs) -> None:
    report = repaired(FLAGGED, select=["AG401"])
    assert report.diagnosis is not None
    assert report.diagnosis.cause is Cause.NO_GRAPH
    assert added(safe(report)) == ["return (1 - net(x).softmax(1)[:, 0]).max()"]
