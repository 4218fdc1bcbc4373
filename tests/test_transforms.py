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
    ],
    ids=["inner-step", "per-sample", "ensemble", "tangent", "curvature"],
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
    ],
    ids=["inner-step", "per-sample", "curvature"],
)
def test_an_edit_that_cuts_what_flows_through_a_transform_is_not_safe(
    script: Scripts, text: str, repair: Change, cut: Change
) -> None:
    right, wrong = script(text).verdict(repair), script(text).verdict(repair, cut)
    assert (right.applicability, right.effect) == (Applicability.SAFE, Effect.IDENTICAL)
    assert (wrong.applicability, wrong.effect) == (Applicability.UNSAFE, Effect.CHANGED)
