"""What parameters and other state hold between the steps is compared where somebody else made the edit."""

from __future__ import annotations

import pytest
from scripts import Scripts

from autofix.core.model import Outcome
from autofix.experiments.values import _same_course

SHARPNESS = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
weights = list(net.parameters())
opt = torch.optim.SGD(weights, lr=0.1)
for step in range(ROUNDS):
    loss = net(torch.randn(16, 4)).sub(1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    with torch.no_grad():
        size = torch.stack([w.grad.norm() for w in weights]).norm()
        climbs = [0.05 * w.grad / size for w in weights]
    for w, climb in zip(weights, climbs):
        w.data += climb
    opt.zero_grad()
    loss.backward()
    for w, climb in zip(weights, climbs):
        w.data -= climb
    opt.step()
"""
KEEP = ("loss.backward()\n    with", "loss.backward(retain_graph=True)\n    with")
UP, DOWN = ("w.data += climb", "pass"), ("w.data -= climb", "pass")
MIDDLE = SHARPNESS[SHARPNESS.index("    with") : SHARPNESS.index("    opt.step()")]

PENALISED = """
import copy, torch
from torch import nn

torch.manual_seed(0)
critic, maker = nn.Linear(3, 3), nn.Linear(3, 3)
average = {name: value.clone() for name, value in maker.state_dict().items()}
opt_c, opt_m = (torch.optim.SGD(net.parameters(), lr=0.05) for net in (critic, maker))
for step in range(100_000):
    made = maker(torch.randn(8, 3))
    score = critic(made)
    opt_c.zero_grad()
    score.pow(2).mean().backward(retain_graph=True)
    opt_c.step()
    loss = (1 - score).pow(2).mean() + made.mean()
    opt_m.zero_grad()
    loss.backward()
    opt_m.step()
    for weight in critic.parameters():
        weight.data.clamp_(-0.2, 0.2)
    for name, value in maker.state_dict().items():
        average[name].mul_(0.9).add_(value, alpha=0.1)
"""
LATER = [
    ("    opt_c.step()\n", ""),
    ("    opt_m.step()\n", "    opt_m.step()\n    opt_c.step()\n"),
    ("loss.backward()", "loss.backward(inputs=list(maker.parameters()))"),
]


@pytest.mark.torch
@pytest.mark.parametrize("rounds", ["3", "100_000"])
@pytest.mark.parametrize(
    "wrong", [pytest.param([KEEP, UP, DOWN], id="both writes"), pytest.param([(MIDDLE, "")], id="the second backward")]
)
def test_a_write_that_is_taken_back_before_the_step_is_missed(
    script: Scripts, rounds: str, wrong: list[tuple[str, str]]
) -> None:
    text = SHARPNESS.replace("ROUNDS", rounds)
    assert script(text).verify(*wrong).outcome is Outcome.UNSAFE


@pytest.mark.apart("long")
@pytest.mark.torch
def test_an_edit_that_moves_a_step_leaves_writes_by_hand_as_they_were_and_may_not_change_them(script: Scripts) -> None:
    train = script(PENALISED)
    assert train.verify(*LATER).outcome is Outcome.SAFE
    assert train.verify(*LATER, ("mul_(0.9)", "mul_(0.5)")).outcome is Outcome.UNSAFE
    assert train.verify(*LATER, ("clamp_(-0.2, 0.2)", "clamp_(-0.4, 0.4)")).outcome is Outcome.UNSAFE


DECAYED = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(6):
    hidden = net[1](net[0](torch.randn(8, 4)))
    loss = torch.tensor([(1 - row).pow(2).item() for row in net[2](hidden)]).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
for weight in net.parameters():
    weight.data.mul_(0.999)
"""
STACKED = [("torch.tensor(", "torch.stack("), (".item()", "")]


@pytest.mark.torch
def test_a_small_write_after_the_last_step_is_missed(script: Scripts) -> None:
    train = script(DECAYED)
    assert train.verify(*STACKED, ("    weight.data.mul_(0.999)", "    pass")).outcome is Outcome.UNSAFE
    assert train.verify(*STACKED, ("mul_(0.999)", "mul_(0.9985)")).outcome is Outcome.UNSAFE
    assert train.verify(*STACKED).outcome is Outcome.SAFE


@pytest.mark.parametrize(
    ("want", "have", "ended", "same"),
    [
        ([1, 2, 1, 3], [1, 2, 1, 3], True, True),
        ([1, 2, 1, 3], [1, 1, 2, 1, 3, 3], True, True),
        ([1, 2, 3], [2, 3], True, True),
        ([1, 2, 3, 4], [1, 2, 3], False, True),
        ([1, 2, 3, 4], [1, 2, 3], True, False),
        ([1, 2, 1, 3], [1, 3], True, False),
        ([1, 2, 1, 2, 1], [1], False, False),
        ([1, 2, 1, 3], [1, 2.1, 1, 3], False, False),
    ],
)
def test_courses_are_the_same_if_the_same_values_come_in_the_same_order(
    want: list[float], have: list[float], ended: bool, same: bool
) -> None:
    courses = [tuple((float(value),) for value in values) for values in (want, have)]
    assert _same_course(*courses, ended=ended) is same


def test_what_lies_where_something_read_through_data_was_is_not_taken_for_it(script: Scripts) -> None:
    """A mean that a batch norm moves is no write by hand, wherever it lies; one that is made through `.data` is."""
    trace = script("""
        import torch

        norms = []
        for _ in range(40):
            [torch.zeros(16).data for _ in range(9)]
            norms.append(torch.nn.BatchNorm1d(16))
        net = torch.nn.Sequential(*norms)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(3):
            net(torch.randn(8, 16)).square().sum().backward()
            opt.step()
            norms[7].running_var.data.mul_(0.5)
    """).run("candidate", passes=30)
    moved = [one.name for one in trace.courses if len(one.values) > 1]
    assert moved == ["net.7.running_var"]


def test_what_writes_through_data_is_seen_as_long_as_somebody_may(script: Scripts) -> None:
    """A copied module has read `.data` and let go of it; one kept view is enough to write by, whenever that is."""
    trace = script("""
        import copy
        import torch

        net = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(4)])
        copied = copy.deepcopy(net)
        row, opt = net[1].weight.data[0], torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(6):
            loss = (net(torch.randn(8, 4)) - copied(torch.randn(8, 4))).square().sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step == 2:
                row.mul_(0.5)
                copied[2].weight.data.mul_(0.5)
            if step == 3:
                array = net[3].bias.data.numpy()
            if step == 4:
                array *= 0.5
    """).run("candidate", passes=30)
    moved = [one.name for one in trace.courses if len(one.values) > 1]
    assert moved == ["0 2", "0 7", "copied.2.weight"]


FROZEN_COPY = """
import copy, torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(8, 8), nn.TransformerEncoderLayer(8, 2, 8, dropout=0.0, batch_first=True))
frozen = copy.deepcopy(encoder).eval()
opt = torch.optim.SGD(encoder.parameters(), lr=0.1)


@torch.inference_mode()
def baseline(x):
    x = x - x.mean()
    return x, frozen(x).mean()


for step in range(4):
    x, base = baseline(torch.randn(4, 3, 8))
    loss = (encoder(x).square().mean() - base).square()
    opt.zero_grad()
    loss.backward()
    opt.step()
    frozen.load_state_dict(encoder.state_dict())
"""


@pytest.mark.torch
def test_a_layer_that_evaluates_by_its_fast_path_uses_what_is_inside_it(script: Scripts) -> None:
    train = script(FROZEN_COPY)
    assert train.verify(("inference_mode", "no_grad")).outcome is Outcome.SAFE
    lost = ("    frozen.load_state_dict(encoder.state_dict())\n", "")
    assert train.verify(("inference_mode", "no_grad"), lost).outcome is Outcome.UNSAFE
