"""torch.func inside a training loop: what fails in or beside a transform is seen, and gradients through it compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import Change, Scripts
from training import added, repair, safe, written

from autofix.core.model import Applicability, Effect
from autofix.experiments.client import Probe

pytestmark = pytest.mark.torch

NET = """\
import torch
from torch import nn
from torch.func import functional_call, grad, hessian, jvp, stack_module_state, vmap

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
"""
STEP = """\
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
INNER_STEP = f"""\
{NET}
def inner(params, x, y):
    out = torch.exp(functional_call(net, params, (x,)))
    out += 1
    return (out - y).pow(2).mean()

for _ in range(4):
    params = dict(net.named_parameters())
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    slope = grad(inner)(params, x, y)
    fast = {{k: p - 0.1 * slope[k] for k, p in params.items()}}
    loss = (functional_call(net, fast, (x,)) - y).pow(2).mean()
{STEP}"""
PER_SAMPLE = f"""\
{NET}
def loss_of(params, x):
    return functional_call(net, params, (x,)).pow(2).sum()

for _ in range(4):
    x = torch.randn(8, 3)
    slopes = vmap(grad(loss_of), in_dims=(None, 0))(dict(net.named_parameters()), x)
    size = sum(s.pow(2).flatten(1).sum(1) for s in slopes.values())
    h = torch.sigmoid(net(x))
    h *= 2
    loss = (h[:, 0] * size).mean()
{STEP}"""
ENSEMBLE = f"""\
{NET}
nets = [nn.Linear(3, 1) for _ in range(3)]
params, buffers = stack_module_state(nets)
optimizer = torch.optim.SGD(params.values(), 0.1)

def one(p, b, x):
    out = torch.sigmoid(functional_call(nets[0], (p, b), (x,)))
    out *= 2
    return out

for _ in range(4):
    loss = vmap(one, in_dims=(0, 0, None))(params, buffers, torch.randn(8, 3)).pow(2).mean()
{STEP}"""
TANGENT = f"""\
{NET}
state = torch.zeros(1)
for _ in range(4):
    params = dict(net.named_parameters())
    out, tangent = jvp(lambda v: functional_call(net, params, (v,)), (torch.randn(3),), (torch.ones(3),))
    state = torch.tanh(state + out)
    loss = state.pow(2).mean() + tangent.pow(2).mean()
{STEP}"""
CURVATURE = f"""\
{NET}
for _ in range(4):
    x = torch.randn(5, 3)
    bend = vmap(hessian(lambda v: net(v).sum()))(x)
    y = torch.exp(net(x))
    y *= 2
    loss = y.mean() + bend.pow(2).mean()
{STEP}"""
AT_ONCE = """\
import torch
from torch.autograd.functional import jacobian

torch.manual_seed(0)
scale = torch.tensor([0.5, 1.5], requires_grad=True)
optimizer = torch.optim.SGD([scale], 0.05)

def moved(x):
    place, speed = x.squeeze(0).unbind()
    return torch.stack([place + 0.1 * speed * scale[0], speed - 0.1 * torch.sin(place) * scale[1]])[None]

for _ in range(4):
    states = torch.ones(1, 2).repeat(4, 1)
    for t in range(3):
        gain = jacobian(moved, states[t][None].detach(), create_graph=True, vectorize=True).sum()
        states[t + 1] = moved(states[t][None])[0] * (1 + 0.1 * gain)
    loss = states.square().sum()
{STEP}""".replace("{STEP}", STEP)


AT_ONCE_CLONED = (
    "return torch.stack([place + 0.1 * speed * scale[0], speed - 0.1 * torch.sin(place.clone()) * scale[1]])[None]"
)
LONG = pytest.mark.apart("long")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("script", "rule", "line"),
    [
        pytest.param(INNER_STEP, "AG101", "out = out + 1", marks=LONG),
        pytest.param(PER_SAMPLE, "AG101", "h = h * 2", marks=LONG),
        pytest.param(ENSEMBLE, "AG101", "out = out * 2", marks=LONG),
        pytest.param(TANGENT, "AG203", "state = state.detach()", marks=LONG),
        (CURVATURE, "AG101", "y = y * 2"),
        (AT_ONCE, "AG104", AT_ONCE_CLONED),
    ],
    ids=["inner-step", "per-sample", "ensemble", "tangent", "curvature", "at-once"],
)
def test_a_loop_with_a_transform_is_repaired(probe: Probe, here: Path, script: str, rule: str, line: str) -> None:
    written(here, {"train.py": script})
    assert added(safe(repair(probe, "train.py", select=[rule]))) == [line]


@pytest.mark.parametrize(
    ("text", "repair", "cut"),
    [
        (INNER_STEP, ("out += 1", "out = out + 1"), ("* slope[k]", "* slope[k].detach()")),
        pytest.param(PER_SAMPLE, ("h *= 2", "h = h * 2"), ("* size)", "* size.detach())"), marks=LONG),
        pytest.param(CURVATURE, ("y *= 2", "y = y * 2"), ("bend.pow", "bend.detach().pow"), marks=LONG),
        (AT_ONCE, ("x.squeeze(0)", "x.clone().squeeze(0)"), ("0.1 * gain", "0.1 * gain.detach()")),
    ],
    ids=["inner-step", "per-sample", "curvature", "at-once"],
)
def test_an_edit_that_cuts_what_flows_through_a_transform_is_not_safe(
    script: Scripts, text: str, repair: Change, cut: Change
) -> None:
    right, wrong = script(text).verdict(repair), script(text).verdict(repair, cut)
    assert (right.applicability, right.effect) == (Applicability.SAFE, Effect.IDENTICAL)
    assert (wrong.applicability, wrong.effect) == (Applicability.UNSAFE, Effect.CHANGED)
