"""What an edit adds for nothing is left out; what was there stays, however needless."""

from pathlib import Path

import pytest
from scripts import Scripts

from autofix.core.model import Applicability
from autofix.search.propose import without_repeats
from autofix.syntax.source import Source

LOOP = "for x in data:\n    y = f(x)\n    loss = g(y)\n    loss.backward()\n"


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        (LOOP, LOOP.replace("    loss = g", "    loss = h(x)\n    loss = g"), LOOP),
        (LOOP, LOOP.replace("    y = f(x)\n", "    y = f(x)\n    y = f(x)\n"), LOOP),
        (LOOP, LOOP.replace("    y = f(x)\n", "    y = f(x)\n    z = f(x)\n    y = f(x)\n"), "    z = f(x)\n    y"),
        (LOOP, LOOP.replace("    loss = g", "    y = y.detach()\n    loss = g"), None),
        (LOOP, LOOP.replace("    loss = g", "    y = f(y)\n    loss = g"), None),
        (LOOP, LOOP.replace("    loss = g", "    x = x.clone()\n    y = f(x)\n    loss = g"), None),
        (LOOP, LOOP.replace("    y = f(x)\n", "    y = k(x)\n    log()\n    y = f(x)\n"), None),
        (LOOP, LOOP.replace("    y = f(x)\n", "    if x:\n        y = k(x)\n    y = f(x)\n"), None),
        ("y = a\ny = b\nu(y)\n", "y = a\ny = b\nw = a\nu(y)\n", None),
        ("y = k(x)\nu(y)\ny = f(x)\nu(y)\n", "u(y)\ny = k(x)\ny = f(x)\nu(y)\n", None),
    ],
)
def test_what_an_edit_adds_in_vain_is_left_out(old: str, new: str, left: str | None) -> None:
    found = without_repeats(Source(Path("/x/a.py"), old.encode()), new.encode()).decode()
    assert found == new if left is None else left in found and len(found) < len(new)


TWO_STEPS = """\
import torch

torch.manual_seed(0)
G, D = torch.nn.Linear(3, 2), torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt_g = torch.optim.SGD(G.parameters(), lr=0.05)
opt_d = torch.optim.SGD(D.parameters(), lr=0.05)
for _ in range(4):
    label = torch.ones(5, 1)
    loss_d = (D(torch.randn(5, 2)) * label).square().mean()
    label.fill_(0.5)
    fake = G(torch.randn(5, 3))
    score = D(fake)
    loss_d = loss_d + (score - label).square().mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    CLEAR
    label.fill_(1.0)
    (score - label).square().mean().backward()
    opt_g.step()
"""


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("clears", [True, False])
def test_what_is_computed_again_is_first_computed_of_values(script: Scripts, *, clears: bool) -> None:
    """Safe where what it leaves in the other network is cleared: then no graph has to be kept for it."""
    (best, *_) = script(TWO_STEPS.replace("CLEAR", "opt_g.zero_grad()" if clears else "pass")).fix().fixes
    assert b"+    score = D(fake.detach())" in best.diff
    assert b"retain_graph" not in best.diff
    assert (best.verdict.applicability is Applicability.SAFE) is clears
