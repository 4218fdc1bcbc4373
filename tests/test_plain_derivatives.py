"""Derivatives without a graph: which are plain numbers to a loss, and through which it may be meant to train."""

from __future__ import annotations

import pytest
from sampled import one_in
from scripts import Scripts

from autofix.core.model import Applicability
from autofix.verdict.property import HEAD

pytestmark = pytest.mark.torch

THREE_STEPS = """\
moved = (x.detach() - slope).requires_grad_()
    for _ in range(2):
        moved = (moved.detach() - torch.autograd.grad(net(moved).sum(), moved)[0]).requires_grad_()
"""
LOOP = """\
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
head = nn.Linear(2, 3)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
data, table = torch.randn(24, 3), torch.randn(24, 2)
for step in range(4):
    rows = slice(6 * step, 6 * step + 6)
    x = LEAF
    score = SCORE
    slope = torch.autograd.grad(score.sum(), x)[0]
    MADE
    loss = score.mean() + (LOSS).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MOTION = """\
from torch.autograd.functional import hessian, jacobian

net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1, bias=False))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.rand(2)

    def energy(at):
        return net(at[None]).sum()

    mass, force = hessian(energy, x), jacobian(energy, x)
    loss = (mass @ torch.ones(2) + force - 1).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SAMPLE = "data[rows].clone().requires_grad_()"
KEPT = "score.sum(), x)", "score.sum(), x, retain_graph=True)"
BY_BACKWARD = "    slope = torch.autograd.grad(score.sum(), x)[0]\n"
READ = "    score.sum().backward()\n    slope = x.grad\n"
PLAIN = {
    "an attack along a normalised gradient": ("net(moved).square()", "moved = x.detach() + slope / (1 + slope.norm())"),
    "an attack by a tensor that is filled in place": (
        "net(moved).square()",
        "moved = x.detach().clone(); moved[:3] += slope[:3]",
    ),
    "Langevin samples from data, three steps": ("-net(moved)", THREE_STEPS),
    "the least move to the other class": (
        "net(x.detach() + moved).square()",
        "moved = score.detach().abs() * slope / (slope.square().sum() + 1e-4)",
    ),
    "a moved point behind what normalises it": (
        "net((moved - moved.mean(0)) / moved.std(0)).square()",
        "moved = x.detach() + 0.3 * slope.exp()",
    ),
    "by several weights that were computed with a graph": (
        "(weight - weight.mean()).detach() * score.flatten()",
        "weight = (slope.square() + score).sum(1)",
    ),
    "switched off around what is made of it": (
        "weight * score.flatten()",
        "with torch.no_grad(): weight = slope.square().sum(1)",
    ),
    "a target that the code has cut": (
        "(net(data[rows]) - goal.detach()).square()",
        "goal = score + slope.sum(1, True)",
    ),
}
DOUBTED = {
    "a penalty": ("(slope.norm(2, 1) - 1).square()", "pass"),
    "a penalty that is cut is a term that trains nothing": ("(slope.norm(2, 1) - 1).square().detach()", "pass"),
    "a residual": ("(slope.sum(1, True) + net(data[rows])).square()", "pass"),
    "a field that is compared with what was measured": ("(slope[:, [1, 0, 2]] - data[rows].sin()).square()", "pass"),
    "a score that is matched": ("0.5 * slope.square() + slope", "pass"),
    "an iterate that is compared with a target": ("(moved - data[rows].sin()).square()", THREE_STEPS),
    "a moved point that is also held near the data": (
        "net(moved).square() + (moved - data[rows]).square()",
        "moved = x.detach() + slope.exp()",
    ),
    "a derivative that another network is given": ("head(slope[:, :2]).square()", "pass"),
    "a residual with a weight that is learned": ("head.bias.exp() * (slope - 1).square()", "pass"),
    "weights of examples that nobody cut": ("slope.norm(dim=1) * score.flatten()", "pass"),
    "in place into what is compared": ("(made - 1).square()", "made = torch.zeros(6, 3); made[:, :2] = slope[:, :2]"),
}
OF_NO_DATA = {
    "a latent drawn in each pass": ("torch.randn(6, 3).requires_grad_()", "net(x)"),
    "a context filled in each pass, beside data": (
        "torch.zeros(1, 2).requires_grad_()",
        "net(torch.cat([data[rows][:, :1], x.expand(6, 2)], 1)).square()",
    ),
    "features of a network that is trained": ("head(table[rows]).detach().requires_grad_()", "net(x).square()"),
    "an embedding with its graph": ("head(table[rows])", "net(x).square()"),
}
MOVED = {
    "a latent drawn in each pass": "net(x.detach() - slope)",
    "a context filled in each pass, beside data": (
        "net(torch.cat([data[rows][:, :1], (x - slope).expand(6, 2)], 1)).square()"
    ),
    "features of a network that is trained": "net(x.detach() + slope.exp()).square()",
    "an embedding with its graph": "net(x + slope.exp()).square()",
}
INNER = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = torch.randn(24, 3)
for step in range(4):
    x = data[6 * step : 6 * step + 6]
    weight, bias = net.weight, net.bias
    first = F.linear(x, weight, bias).square().mean()
    slopes = torch.autograd.grad(first, (weight, bias))
    weight, bias = weight - 0.1 * slopes[0], bias - 0.1 * slopes[1]
    loss = (F.linear(x.flip(1), weight, bias) - 1).square().mean() + first
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def script_of(loss: str, made: str, leaf: str = SAMPLE, score: str = "net(x).square()") -> str:
    text = LOOP.replace("LOSS", loss).replace("MADE", made).replace("LEAF", leaf).replace("SCORE", score)
    return HEAD + text


def doubts(script: Scripts, text: str, *edit: tuple[str, str]) -> bool:
    found = script(text).verdict(*edit).findings
    return "derivative-is-constant" in [one.property for one in found]


@pytest.mark.parametrize("name", one_in(4, PLAIN))
def test_what_is_a_plain_number_is_not_doubted(script: Scripts, name: str) -> None:
    assert not doubts(script, script_of(*PLAIN[name]), KEPT)


@pytest.mark.parametrize("name", one_in(4, [name for name in PLAIN if "cut" not in name]))
def test_nor_what_a_backward_left_in_a_leaf(script: Scripts, name: str) -> None:
    text = script_of(*PLAIN[name]).replace(BY_BACKWARD, READ)
    assert not doubts(script, text, ("score.sum().backward()", "score.sum().backward(retain_graph=True)"))


@pytest.mark.parametrize("name", one_in(4, DOUBTED))
def test_what_enters_a_loss_is_doubted(script: Scripts, name: str) -> None:
    assert doubts(script, script_of(*DOUBTED[name]), KEPT)


@pytest.mark.parametrize("name", one_in(4, DOUBTED))
def test_so_is_what_a_backward_left_in_a_leaf(script: Scripts, name: str) -> None:
    text = script_of(*DOUBTED[name]).replace(BY_BACKWARD, READ)
    assert doubts(script, text, ("score.sum().backward()", "score.sum().backward(retain_graph=True)"))


@pytest.mark.parametrize("name", one_in(3, OF_NO_DATA))
def test_a_derivative_by_what_is_no_data_is_doubted_wherever_it_leads(script: Scripts, name: str) -> None:
    leaf, score = OF_NO_DATA[name]
    assert doubts(script, script_of(MOVED[name], "pass", leaf, score), KEPT)


def test_an_inner_step_of_weights_is_doubted(script: Scripts) -> None:
    assert doubts(script, HEAD + INNER, ("(weight, bias))", "(weight, bias), retain_graph=True)"))


def test_what_a_package_detaches_is_not_cut_by_the_program(script: Scripts) -> None:
    calls = ("hessian(energy, x)", "jacobian(energy, x)")
    verdict = script(HEAD + MOTION).verdict(*((call, f"{call[:-1]}, create_graph=True)") for call in calls))
    assert verdict.applicability is Applicability.SAFE, verdict.summary


def test_a_shift_that_is_filled_in_each_pass_is_added_to_data(script: Scripts) -> None:
    leaf, score = "torch.zeros(6, 3).requires_grad_()", "net(data[rows] + x).square()"
    text = script_of("net(data[rows] + slope / (1 + slope.norm())).square()", "pass", leaf, score)
    assert not doubts(script, text, KEPT)


def test_an_edit_that_takes_fewer_derivatives_may_lead_elsewhere(script: Scripts) -> None:
    made = (
        "other = torch.autograd.grad(3 * score.sum(), x, retain_graph=True)[0]\n"
        "    slope = min(slope, other, key=lambda one: float(one.norm()))"
    )
    text = script_of("net(x.detach() + slope / (1 + slope.norm())).square()", made)
    assert not doubts(script, text, KEPT)
    assert doubts(script, text, KEPT, ("torch.autograd.grad(3 * score.sum(), x, retain_graph=True)[0]", "2 * slope"))


def test_a_number_has_left_its_graph_in_any_case(script: Scripts) -> None:
    assert not doubts(script, script_of("1 / (1 + slope.norm().item()) * score.flatten()", "pass"), KEPT)


def test_a_network_that_is_frozen_is_not_trained_through_its_derivative(script: Scripts) -> None:
    text = script_of("(net(data[rows]) - slope.sum(1, True)).square()", "pass", score="(x * data.mean(0)).exp()")
    assert not doubts(script, text.replace("score.mean() + ", "score.detach().mean() + score.mean() + "), KEPT)
