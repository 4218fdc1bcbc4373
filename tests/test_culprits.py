"""The lines that a diagnosis names: where a graph is kept, handed on, used when it is stale, or switched off."""

from __future__ import annotations

import pytest
from scripts import Scripts

pytestmark = pytest.mark.torch

WINDOWS = """
import torch

cell = torch.nn.GRUCell(2, 3)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
h, window, seen = torch.zeros(1, 3), [], 0
for x in torch.randn(12, 1, 2):
    h = cell(x, h)  # carried
    window.append(h.pow(2).mean())
    if len(window) == 4:
        opt.zero_grad()
        torch.stack(window).mean().backward()
        opt.step()
        seen += len(window)
        window = []
"""
BANK = """
import torch


class Bank:
    def __init__(self):
        self.kept = []

    def put(self, z):
        self.kept.append(z)  # stored
        return torch.stack(self.kept).mean()


net, bank = torch.nn.Linear(2, 3), Bank()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = bank.put(net(torch.ones(1, 2)).exp().sum())
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
STALE = """
import torch

E, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD([*E.parameters(), *D.parameters()], lr=0.1)
for _ in range(3):
    score = D(E(torch.ones(4, 2)))
    opt.zero_grad()
    score.mean().backward(retain_graph=True)
    opt.step()
    other = torch.zeros(4, 1)
    second = (score - other).pow(2).mean()  # stale
    opt.zero_grad()
    second.backward()
    opt.step()
"""
INFERENCE = """
import torch

body, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
with torch.inference_mode():  # cut
    seen = body(torch.ones(1, 2))
more = seen
head(more).sum().backward()
"""


@pytest.mark.parametrize("text", [WINDOWS, BANK, STALE, INFERENCE], ids=["windows", "bank", "stale", "inference"])
def test_the_line_that_explains_the_failure_is_named(script: Scripts, text: str) -> None:
    found = script(text).diagnosed()
    ((line, role),) = (
        (number, line.rpartition("# ")[2]) for number, line in enumerate(text.splitlines(), 1) if "# " in line
    )
    assert (role, line) in {(culprit.role, culprit.frame.line) for culprit in found.culprits}


RESET = """
import torch

class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = torch.nn.RNNCell(3, 4)
        self.register_buffer("h", torch.zeros(5, 4))
    def forward(self, x):
        self.h = self.cell(x, self.h)
        return self.h
    def reset(self):
        self.h.zero_()

net = Cell()
for _ in range(3):
    net.reset()
    net(torch.ones(5, 3)).sum().backward()
"""


def test_a_call_that_gives_nothing_is_told_with_the_line_in_it(script: Scripts) -> None:
    used = next(one for one in script(RESET).diagnosed().culprits if one.role == "used" and not one.aside)
    assert (used.frame.line, used.note.rpartition(":")[2]) == (17, "13")
