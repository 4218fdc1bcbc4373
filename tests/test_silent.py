"""Faults that crash nothing: what a run of `fix` reports of them, and what it leaves alone."""

from __future__ import annotations

import pytest
from scripts import Scripts

from autofix.core.model import Outcome

pytestmark = pytest.mark.torch

HEAD = """
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
"""
FAULTS = {
    "AG501": """
for _ in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    loss.backward()
    opt.step()  # here
""",
    "AG502": """
for _ in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    loss.backward()
    opt.zero_grad()
    opt.step()  # here
""",
    "AG503": """
history = []
for _ in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss)  # here
""",
    "AG504": """
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.step()  # here
    opt.zero_grad()
    loss.backward()
""",
    "AG505": """
sched = torch.optim.lr_scheduler.StepLR(opt, 1)
for _ in range(5):
    sched.step()  # here
    loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "AG509": """
net = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)])  # here
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(5):
    loss = net[0](torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "AG510": """
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net[1].parameters(), lr=0.01)  # here
for _ in range(5):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
}
RIGHT = {
    "gradients gathered over two batches, clipped and cleared to zero": """
sched = torch.optim.lr_scheduler.StepLR(opt, 1)
log = []
for n in range(12):
    loss = net(torch.randn(4, 3)).pow(2).mean()
    loss.backward()
    if n % 2:
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        opt.zero_grad(set_to_none=False)
        sched.step()
    log.append(loss.item())
""",
    "a critic that another loss runs through": """
actor = torch.nn.Linear(2, 3)
own = torch.optim.Adam(actor.parameters())
for _ in range(6):
    fake = actor(torch.randn(4, 2))
    opt.zero_grad(set_to_none=False)
    net(fake.detach()).mean().backward()
    opt.step()
    own.zero_grad()
    net(fake).mean().backward()
    own.step()
""",
    "a closure": """
opt = torch.optim.LBFGS(net.parameters())
x = torch.randn(8, 3)


def closure():
    opt.zero_grad()
    loss = net(x).pow(2).mean()
    loss.backward()
    return loss


for _ in range(4):
    opt.step(closure)
""",
    "a part that is frozen, and a state that is detached": """
net[0].requires_grad_(False)
opt = torch.optim.SGD(net[1].parameters(), lr=0.01)
level = torch.zeros(())
for _ in range(5):
    level = 0.9 * level.detach() + net(torch.randn(4, 3)).mean()
    opt.zero_grad()
    level.pow(2).backward()
    opt.step()
""",
}


@pytest.mark.parametrize("code", FAULTS)
def test_a_fault_that_crashes_nothing_is_reported_where_it_is(script: Scripts, code: str) -> None:
    found = script(HEAD + FAULTS[code]).fix()
    assert found.outcome is Outcome.CLEAN
    line = next(n for n, text in enumerate((HEAD + FAULTS[code]).splitlines(), 1) if text.endswith("# here"))
    assert [(one.code, one.frame.line) for one in found.suspicions] == [(code, line)]


@pytest.mark.parametrize("name", RIGHT)
def test_training_that_is_right_is_left_alone(script: Scripts, name: str) -> None:
    found = script(HEAD + RIGHT[name]).fix()
    assert found.outcome is Outcome.CLEAN
    assert found.suspicions == ()


def test_the_suspicions_of_a_failing_run_stand_beside_its_fix(script: Scripts) -> None:
    text = FAULTS["AG503"].replace("range(5)", "range(6)") + "    if len(history) == 5:\n        loss.backward()\n"
    found = script(HEAD + text).fix()
    assert found.diagnosis is not None
    assert [one.code for one in found.suspicions] == ["AG503"]


SWALLOWED = """
import torch

net = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
h = torch.zeros(3)
for _ in range(5):
    h = net(torch.randn(3)) + h
    opt.zero_grad()
    try:
        h.sum().backward()
        opt.step()
    except RuntimeError:
        print("skipped")
"""


def test_a_failure_that_the_script_catches_is_told(script: Scripts) -> None:
    found = script(SWALLOWED).fix()
    assert found.outcome is Outcome.CLEAN
    said = "train.py:11 failed 4 times with RuntimeError: Trying to backward through the graph a second time"
    assert said in found.message


def test_a_failure_that_ends_the_script_is_none_that_was_caught(script: Scripts) -> None:
    found = script(SWALLOWED.replace('print("skipped")', "raise")).fix()
    assert found.outcome is Outcome.AVAILABLE
    assert "caught" not in found.message
