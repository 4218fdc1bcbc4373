"""Scripts that run, each with something that a play must follow or own that it cannot: nothing is found in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofix.check import check

FAILURES = [finder for finder in check.finders() if finder.kinds]
HEAD = """\
import contextlib, copy, json
import torch
from torch import no_grad as off

net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
w = torch.ones(3, requires_grad=True)
x = torch.randn(4, 3)
"""
RUNS = {
    "keywords that are not known": """\
def go(loss, **more):
    loss.backward(**more)
loss, more = (w * w).sum(), json.loads('{"retain_graph": true}')
go(loss, **more)
go(loss, **more)
""",
    "gradients on again": """\
with torch.no_grad(), torch.set_grad_enabled(True):
    loss = (w * w).sum()
loss.backward()
""",
    "no inference": """\
with torch.inference_mode(mode=False):
    loss = (w * w).sum()
loss.backward()
""",
    "another name": """\
with off():
    w += 1
""",
    "a mode in a variable": """\
mode = torch.no_grad()
with mode:
    w += 1
""",
    "a mode on a stack": """\
with contextlib.ExitStack() as stack:
    stack.enter_context(torch.no_grad())
    w += 1
""",
    "a mode in a generator": """\
@contextlib.contextmanager
def quiet():
    with torch.no_grad():
        yield
with quiet():
    w += 1
""",
    "flags while a body runs": """\
@contextlib.contextmanager
def frozen(module):
    module.requires_grad_(False)
    yield module
    module.requires_grad_(True)
with frozen(net):
    net[0].weight.mul_(2)
net(x).sum().backward()
""",
    "a mode that an object sets": """\
class Quiet:
    def __enter__(self):
        self.before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)
    def __exit__(self, *_):
        torch.set_grad_enabled(self.before)
with Quiet():
    w += 1
""",
    "an expected failure": """\
loss = (w * w).sum()
loss.backward()
try:
    loss.backward()
except RuntimeError as error:
    print(error)
with contextlib.suppress(RuntimeError):
    loss.backward()
""",
    "a derivative by a result": """\
y = net(x)
torch.autograd.grad((y * y).sum(), y)
y.mean().backward()
""",
    "one of the elements": """\
def go(chosen):
    for one in net.parameters():
        one.requires_grad = False
    others = [torch.zeros(3), torch.zeros(3)]
    parts = [w.exp() if number == chosen else other for number, other in enumerate(others)]
    net(torch.stack(parts)).mean().backward()
go(json.loads("1"))
""",
    "a sample that keeps the graph of an inner distribution": """\
normal = torch.distributions.Independent(torch.distributions.Normal(w, torch.ones(3)), 1)
for one in net.parameters():
    one.requires_grad = False
net(normal.rsample()).mean().backward()
""",
    "numpy for what is no tensor": """\
import numpy as np
def size(value):
    return value.abs() if torch.is_tensor(value) else np.abs(value)
size(w).sum().backward()
size(w.detach().numpy())
""",
    "a gradient made first": """\
if w.grad is None:
    w.grad = torch.zeros_like(w)
w.grad += 1
""",
    "a list emptied by a slice": """\
kept = []
for _ in range(5):
    kept.append(net(x).pow(2).mean())
    sum(kept).backward()
    kept[:] = []
""",
    "a copy of a list": """\
kept = []
for _ in range(5):
    kept.append(net(x).pow(2).mean())
    now = copy.copy(kept)
    kept.clear()
    sum(now).backward()
""",
    "the newest in front": """\
kept = []
for _ in range(5):
    kept.insert(0, net(x).pow(2).mean())
    kept[0].backward()
""",
    "an index that is not known": """\
states = [torch.zeros(4, 3), torch.zeros(4, 3)]
for _ in range(5):
    for n in range(len(states)):
        states[n] = states[n].detach()
    states[0] = net[0](x + states[0])
    states[1] = net[0](states[0] + states[1])
    states[1].pow(2).sum().backward()
""",
    "a generator goes on when asked": """\
def losses():
    for _ in range(3):
        yield net(x).pow(2).mean()
for loss in losses():
    opt.zero_grad()
    loss.backward()
    opt.step()
for loss in (net(x).pow(2).mean() for _ in range(3)):
    opt.zero_grad()
    loss.backward()
    opt.step()
for loss in map(lambda one: net(one).pow(2).mean(), [x, x]):
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "an iterator gives one after the other": """\
losses = iter([(w * w).sum(), (w * w).sum()])
next(losses).backward()
next(losses).backward()
""",
    "states in parts of parts": """\
class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.h = torch.nn.Linear(3, 3), None
    def forward(self, x):
        self.h = self.fc(x) if self.h is None else self.fc(x) + self.h
        return self.h
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = torch.nn.ModuleList([Cell() for _ in range(3)])
        self.top = torch.nn.Sequential(torch.nn.Linear(3, 3), Cell())
    def forward(self, x):
        for cell in self.cells:
            x = cell(x)
        return self.top(x)
deep = Net()
for _ in range(5):
    for part in deep.modules():
        if isinstance(part, Cell):
            part.h = None
    deep(x).pow(2).sum().backward()
""",
    "an attribute whose name is computed": """\
class State:
    h = c = None
state = State()
state.h = torch.zeros(4, 3)
for _ in range(5):
    for name in json.loads('["h", "c"]'):
        setattr(state, name, torch.zeros(4, 3))
    state.h = (net[0](x) + state.h).tanh()
    state.h.sum().backward()
""",
    "a parameter taken away": """\
del net[0].weight
net[0].weight = torch.ones(3, 3)
net(x).sum().backward()
""",
    "names that other scopes bind": """\
loss = (w * w).sum()
loss.backward()
print([loss := (w * n).sum() ** 2 for n in (2, 3)])
loss.backward()
match {"loss": (w * w).sum()}:
    case {"loss": loss}:
        loss.backward()
def alone():
    from math import pi as w
    return w
alone()
(w * w).sum().backward()
""",
    "a part that is first read without gradients": """\
def go(outputs):
    with torch.no_grad():
        noise = outputs.loss * 0.1
    loss = outputs.loss + noise
    loss.backward()
class Outputs:
    loss = (w * w).sum()
go(Outputs)
""",
    "the larger of two": """\
best = (w * w).sum()
best.backward()
best = max(best, (w * w * w * 9).sum())
best.backward()
""",
}


@pytest.mark.parametrize("what", RUNS)
def test_nothing_is_found_in_a_script_that_runs(what: str) -> None:
    found = check.check_bytes(Path("x.py"), (HEAD + RUNS[what]).encode(), FAILURES)
    assert [(one.line, one.code) for one in found] == []


@pytest.mark.apart("long")
@pytest.mark.torch
def test_these_scripts_run() -> None:
    for script in RUNS.values():
        exec(compile(HEAD + script, "x.py", "exec"), {"__name__": "__main__"})  # noqa: S102  our own scripts
