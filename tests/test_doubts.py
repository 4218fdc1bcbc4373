"""Edits that keep what the code says and are doubted all the same, because the code can hardly mean it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sampled import one_in
from scripts import Script, Scripts, changed, properties
from training import added, repair, written

from autofix.core.model import Applicability, Effect, Verdict
from autofix.experiments.client import Probe

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


def offers(train: Script) -> dict[str, Verdict]:
    """The verdict on each fix of a script, by the lines that it adds."""
    return {"; ".join(added(fix)): fix.verdict for fix in train.fix().fixes}


def cut_behind(train: Script, name: str) -> Verdict:
    """The verdict on a cut of `name` at the end of the innermost loop, where a script ends."""
    return train.verdict((train.text, f"{train.text}        {name} = {name}.detach()\n"), ours=True)


@pytest.mark.parametrize(
    "loss",
    [
        "loss = torch.from_numpy((array - y.numpy()) ** 2).mean() + out.square().mean()",
        "loss = out.square().mean() * 2 - float(array.mean())",
        "loss = nn.functional.mse_loss(torch.tensor(array), y) + 0.01 * critic.weight.square().sum()",
        "loss = net(torch.from_numpy(array).expand(-1, 3)).square().mean()",
    ],
)
def test_a_score_by_numpy_or_an_input_is_trained_through(script: Scripts, loss: str) -> None:
    train = script(SCORED.format(loss=loss))
    cut = train.verdict(("critic(x).numpy()", "critic(x).detach().numpy()"))
    assert (cut.applicability, cut.effect) == (Applicability.UNSAFE, Effect.CHANGED)
    lines, best = next(iter(offers(train).items()))
    assert best.applicability is Applicability.SAFE
    assert "detach" not in lines


@pytest.mark.parametrize(
    "loss",
    [
        "loss = nn.functional.mse_loss(out, torch.from_numpy(array) + y) + (critic(x) - y).square().mean()",
        "loss = (torch.from_numpy(array) * out).mean() + (critic(x) - y).square().mean()",
        "loss = out.square().mean(); print(float(array.mean()))",
    ],
)
def test_an_array_as_target_weight_or_figure_of_what_learns_elsewhere_is_a_constant(script: Scripts, loss: str) -> None:
    found = offers(script(SCORED.format(loss=loss)))
    assert next(iter(found.values())).applicability is Applicability.SAFE, found


@pytest.mark.parametrize(
    "loss",
    [
        "loss = nn.functional.mse_loss(out, torch.from_numpy(array) + y)",
        "loss = (torch.from_numpy(array) * out).mean()",
    ],
)
def test_an_array_as_target_or_weight_of_what_would_never_learn_is_asked_about(script: Scripts, loss: str) -> None:
    found = offers(script(SCORED.format(loss=loss)))
    assert found
    assert all(one.applicability is not Applicability.SAFE for one in found.values()), found


@pytest.mark.parametrize("count", one_in(2, [2, 3]))
def test_heads_that_take_turns_on_a_trunk_hand_no_state_on(script: Scripts, count: int) -> None:
    cut = cut_behind(script(TAKING_TURNS.format(count=count)), "hidden")
    assert properties(cut) == {"shared-across-passes"}
    assert cut.applicability is not Applicability.SAFE


def test_a_state_that_is_handed_on_may_be_cut(script: Scripts) -> None:
    best = next(iter(offers(script(HANDED_ON)).values()))
    assert (best.applicability, properties(best)) == (Applicability.SAFE, set())


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


def test_what_two_epochs_share_is_no_state_that_may_be_cut(script: Scripts) -> None:
    cut = cut_behind(script(EPOCHS.format(count=2)), "old")
    assert cut.effect is Effect.TRUNCATED
    assert "shared-across-passes" in properties(cut)


def test_what_epochs_share_is_not_computed_anew_until_nothing_trains(script: Scripts) -> None:
    found = offers(script(EPOCHS.format(count=4)))
    safe = {lines for lines, verdict in found.items() if verdict.applicability is Applicability.SAFE}
    assert safe
    assert all("detach()" in lines or "no_grad()" in lines for lines in safe)
    assert any("steps-without-gradient" in properties(verdict) for verdict in found.values())


@pytest.mark.parametrize("text", one_in(2, [IN_A_CLOSURE, BY_BACKWARD]))
def test_a_derivative_in_a_closure_is_doubted_however_often_it_is_evaluated(script: Scripts, text: str) -> None:
    found = offers(script(text))
    kept = next(verdict for lines, verdict in found.items() if "retain_graph=True" in lines)
    assert properties(kept) == {"derivative-is-constant"}
    assert kept.applicability is not Applicability.SAFE


@pytest.mark.parametrize(
    ("given", "safe"), [("Reverse.apply(body(torch.randn(8, 4)))", True), ("body(torch.randn(8, 4))", False)]
)
def test_a_write_to_what_a_function_of_ones_own_gave_keeps_its_backward(
    script: Scripts, given: str, *, safe: bool
) -> None:
    changes = [("Reverse.apply(body(torch.randn(8, 4)))", given), ("turned *= 0.5", "turned = turned * 0.5")]
    assert (script(REVERSED).verdict(*changes).applicability is Applicability.SAFE) == safe


@pytest.mark.parametrize(("read", "safe"), [("before", True), ("behind", False)])
def test_a_write_by_a_call_is_one_to_the_memory_that_a_function_of_ones_own_gave_on(
    script: Scripts, read: str, *, safe: bool
) -> None:
    write, also = "    turned.mul_(0.5)\n", "    also = domain(out).mean()\n"
    text = changed(
        REVERSED,
        ("    turned = ", "    out = body(torch.randn(8, 4)).tanh()\n    turned = "),
        ("apply(body(torch.randn(8, 4)))", "apply(out)"),
        ("    turned *= 0.5\n", also + write if read == "before" else write + also),
        ("turned).square().mean()", "turned).square().mean() + also"),
    )
    assert (script(text).verdict(("turned.mul_", "turned = turned.mul")).applicability is Applicability.SAFE) == safe


def test_a_parameter_that_another_file_holds_is_none_that_nothing_holds(
    probe: Probe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shared = "import torch\nraw = torch.nn.Parameter(torch.zeros(3))\ndef scale():\n    return {}.exp()\n"
    train = """\
import torch, shared
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scale = shared.scale()
for _ in range(4):
    loss = (net(torch.randn(8, 3) * scale) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
    found = {}
    for raw in ("raw", "torch.nn.Parameter(torch.zeros(3))"):
        written(tmp_path, {"shared.py": shared.format(raw), "train.py": train})
        fix = repair(probe, "train.py", select=["AG201"]).fixes[0]
        found[raw] = "parameter-is-unreachable" in {one.property for one in fix.verdict.findings}
    assert list(found.values()) == [False, True]
