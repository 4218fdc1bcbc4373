"""Buffers that a module writes for each of its calls alone: an edit may write to a copy, else it keeps the write."""

from __future__ import annotations

import pytest
from scripts import Scripts

HEAD = """\
import copy
import torch
from torch import nn

torch.manual_seed(0)


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj, self.bg = nn.Linear(3, 4), nn.Linear(3, 4)
        self.register_buffer("words", torch.randn(5, 4))

    def forward(self, x):
        words = self.words
        words[0] = self.bg(x).mean(0)
        return self.proj(x) @ words.t()

    def known(self, x):
        return self.proj(x) @ self.words.t()


net = Head()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(6, 3)
    loss = net(x).square().mean() + net(x.flip(1)).exp().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(net.words[1:].sum().item())
"""
COPIED = "words = self.words\n", "words = self.words.clone()\n"
WRITE, WHOLE = "words[0] = self.bg(x).mean(0)", "words.copy_(self.bg(x).mean(0))"
READ = "print(net.words[1:].sum().item())"
CLEAR = "    optimizer.zero_grad()\n"


@pytest.mark.torch
@pytest.mark.parametrize("text", [HEAD, HEAD.replace(WRITE, WHOLE).replace(READ, "")])
def test_what_each_call_sets_before_it_reads_it_may_be_set_in_a_copy(script: Scripts, text: str) -> None:
    assert script(text).verdict(COPIED).effect == "identical"


@pytest.mark.torch
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (READ, "print(net.words.sum().item())"),
        (READ, "print(net.known(x).mean().item())"),
        (READ, "kept = copy.deepcopy(net.state_dict())"),
        (WRITE, f"if self.training: {WRITE}\n        net.eval()"),
        (WRITE, "words[0] = words[0].detach() * 0.9 + self.bg(x).mean(0)"),
        (WRITE, "words[int(x[0, 0] > 0)] = self.bg(x).mean(0)"),
        (" @ words.t()", " @ (words[1:] + self.bg(x).mean(0)).t()"),
        (CLEAR, CLEAR + "    loss = loss + net.known(x).mean().detach() * 2\n"),
    ],
)
def test_what_something_reads_later_is_a_lost_write(script: Scripts, old: str, new: str) -> None:
    assert script(HEAD.replace(old, new, 1)).verdict(COPIED).effect == "changed"
