"""Edits that keep what the code says and are doubted all the same, because the code can hardly mean it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from training import added

from autofix import pipeline
from autofix.core.model import Applicability, Effect, Target
from autofix.search.registry import rules

if TYPE_CHECKING:
    from pathlib import Path

    from autofix.core.model import Fix
    from autofix.experiments.run import Probe

pytestmark = pytest.mark.torch

SCORED = """
import torch
from torch import nn

torch.manual_seed(0)
net, critic = nn.Linear(3, 1), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*net.parameters(), *critic.parameters()], lr=0.1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(4):
    out = net(x)
    array = critic(x).numpy()
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TAKING_TURNS = """
import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Linear(4, 8)
heads = [nn.Linear(8, 1) for _ in range({count})]
optimizers = [torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.05) for head in heads]
for _ in range(4):
    hidden = trunk(torch.randn(10, 4))
    for head, optimizer in zip(heads, optimizers):
        loss = head(hidden).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
HANDED_ON = """
import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
hidden = torch.zeros(5, 4)
for _ in range(6):
    hidden = cell(torch.randn(5, 3), hidden)
    loss = head(hidden).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
IN_A_CLOSURE = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.linspace(0, 1, 20).view(-1, 1).requires_grad_()
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=7)


def closure():
    optimizer.zero_grad()
    u = net(x)
    slope = torch.autograd.grad(u.sum(), x)[0]
    loss = (slope + 2 * u).square().mean()
    loss.backward()
    return loss


for _ in range(3):
    optimizer.step(closure)
"""


def offers(probe: Probe, tmp_path: Path, text: str) -> dict[str, Fix]:
    """The fixes of a script by the lines that they add."""
    script = tmp_path / "train.py"
    script.write_text(text)
    report = pipeline.fix(Target(script), rules(), probe=probe, progress=lambda _: None)
    return {"; ".join(added(fix)): fix for fix in report.fixes}


def cut_behind(probe: Probe, tmp_path: Path, text: str, name: str) -> Fix:
    """The verdict on a cut of `name` at the end of the innermost loop, where a script ends."""
    script = tmp_path / "train.py"
    script.write_text(text)
    edited = f"{text}        {name} = {name}.detach()\n".encode()
    (fix,) = pipeline.verify(Target(script), {script: edited}, ours=True, probe=probe, progress=lambda _: None).fixes
    return fix


def doubts(fix: Fix) -> list[str]:
    return [one.property for one in fix.verdict.findings]


@pytest.mark.parametrize(
    "loss",
    [
        "loss = torch.from_numpy((array - y.numpy()) ** 2).mean() + out.square().mean()",
        "loss = out.square().mean() * 2 - float(array.mean())",
        "loss = nn.functional.mse_loss(torch.tensor(array), y) + 0.01 * critic.weight.square().sum()",
    ],
)
def test_a_score_by_numpy_that_trains_nothing_is_doubted(probe: Probe, tmp_path: Path, loss: str) -> None:
    found = offers(probe, tmp_path, SCORED.format(loss=loss))
    assert found
    assert all(doubts(fix) == ["loss-term-is-constant"] for fix in found.values())
    assert all(fix.verdict.applicability is not Applicability.SAFE for fix in found.values())


@pytest.mark.parametrize(
    "loss",
    [
        "loss = nn.functional.mse_loss(out, torch.from_numpy(array) + y)",
        "loss = (torch.from_numpy(array) * out).mean()",
        "loss = net(torch.from_numpy(array).expand(-1, 3)).square().mean()",
        "loss = out.square().mean(); print(float(array.mean()))",
    ],
)
def test_an_array_as_target_weight_input_or_figure_is_a_constant(probe: Probe, tmp_path: Path, loss: str) -> None:
    found = offers(probe, tmp_path, SCORED.format(loss=loss))
    assert next(iter(found.values())).verdict.applicability is Applicability.SAFE, found


@pytest.mark.parametrize("count", [2, 3])
def test_heads_that_take_turns_on_a_trunk_hand_no_state_on(probe: Probe, tmp_path: Path, count: int) -> None:
    cut = cut_behind(probe, tmp_path, TAKING_TURNS.format(count=count), "hidden")
    assert doubts(cut) == ["shared-across-passes"]
    assert cut.verdict.applicability is not Applicability.SAFE


def test_a_state_that_is_handed_on_may_be_cut(probe: Probe, tmp_path: Path) -> None:
    best = next(iter(offers(probe, tmp_path, HANDED_ON).values()))
    assert (best.verdict.applicability, doubts(best)) == (Applicability.SAFE, [])


def test_a_derivative_in_a_closure_is_doubted_however_often_it_is_evaluated(probe: Probe, tmp_path: Path) -> None:
    found = offers(probe, tmp_path, IN_A_CLOSURE)
    kept = next(fix for lines, fix in found.items() if "retain_graph=True" in lines)
    assert doubts(kept) == ["derivative-is-constant"]
    assert kept.verdict.applicability is not Applicability.SAFE


EPOCHS = """
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
for _ in range(4):
    seen = torch.randn(10, 4)
    old = policy(seen).log_softmax(-1)[:, 0]
    for epoch in range({count}):
        ratio = (policy(seen).log_softmax(-1)[:, 0] - old).exp()
        loss = -(ratio * seen[:, 0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
SLICED = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    points = torch.rand(16, 2).requires_grad_()
    x = points[:, :1]
    u = net(points)
    slope = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    loss = (slope - 1).square().mean() + u.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BY_BACKWARD = IN_A_CLOSURE.replace(
    "slope = torch.autograd.grad(u.sum(), x)[0]", "x.grad = None\n    u.sum().backward()\n    slope = x.grad.clone()"
)
REVERSED = """
import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return -gradient


torch.manual_seed(0)
body, domain = nn.Linear(4, 6), nn.Linear(6, 1)
optimizer = torch.optim.SGD([*body.parameters(), *domain.parameters()], lr=0.1)
for _ in range(4):
    turned = Reverse.apply(body(torch.randn(8, 4)))
    turned *= 0.5
    loss = domain(turned).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("count", [2, 4])
def test_what_epochs_share_is_no_state_that_may_be_cut(probe: Probe, tmp_path: Path, count: int) -> None:
    cut = cut_behind(probe, tmp_path, EPOCHS.format(count=count), "old")
    assert cut.verdict.effect is Effect.TRUNCATED
    assert "shared-across-passes" in doubts(cut)


@pytest.mark.parametrize("count", [2, 4])
def test_what_epochs_share_is_not_computed_anew_until_nothing_trains(probe: Probe, tmp_path: Path, count: int) -> None:
    found = offers(probe, tmp_path, EPOCHS.format(count=count))
    assert all(fix.verdict.applicability is not Applicability.SAFE for fix in found.values())
    assert any("steps-without-gradient" in doubts(fix) for fix in found.values())


def test_a_derivative_of_nothing_but_zeros_is_doubted(probe: Probe, tmp_path: Path) -> None:
    found = offers(probe, tmp_path, SLICED)
    assert found
    assert all(doubts(fix) == ["trains-nothing"] for fix in found.values())


def test_a_gradient_left_by_a_backward_in_a_closure_is_doubted(probe: Probe, tmp_path: Path) -> None:
    found = offers(probe, tmp_path, BY_BACKWARD)
    kept = next(fix for lines, fix in found.items() if "retain_graph=True" in lines)
    assert doubts(kept) == ["derivative-is-constant"]


@pytest.mark.parametrize(
    ("given", "safe"), [("Reverse.apply(body(torch.randn(8, 4)))", True), ("body(torch.randn(8, 4))", False)]
)
def test_a_write_to_what_a_function_of_ones_own_gave_keeps_its_backward(
    probe: Probe, tmp_path: Path, given: str, *, safe: bool
) -> None:
    script = tmp_path / "train.py"
    script.write_text(REVERSED)
    text = REVERSED.replace("Reverse.apply(body(torch.randn(8, 4)))", given).replace(
        "turned *= 0.5", "turned = turned * 0.5"
    )
    (fix,) = pipeline.verify(Target(script), {script: text.encode()}, probe=probe, progress=lambda _: None).fixes
    assert (fix.verdict.applicability is Applicability.SAFE) == safe
