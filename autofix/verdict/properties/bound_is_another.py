"""A bound that does not bind yet is moved or changed

## What it finds

The edit touches statements that keep values in a range (`clamp`, `clip`), and the runs do not come to values outside
it. Two further runs have such a function change all that it leaves a little, by its bounds: there the edited script has
other gradients than the code, or than another meaning of it. Examples are `(rate * g).clamp(-1, 1)` for
`rate * g.clamp(-1, 1)`, and another bound. This is not said where the function is given the same values and bounds as
in the code, in whichever spelling, nor of a parameter that is kept in a range.

## Why it matters

As long as nothing is out of the range, all runs are the same. Later, another value is cut, or none.
"""

from __future__ import annotations

import re
from dataclasses import replace

from autofix.experiments.compare import comparable, differences
from autofix.experiments.requests import changed_lines
from autofix.experiments.sketches import FROZEN
from autofix.experiments.spec import Intervention
from autofix.verdict.effect import compared_with
from autofix.verdict.property import Evidence, Example, Finding, Property, Reading, Treatment

_BOUNDS = re.compile(rb"\b(clamp|clip)(_min|_max)?_?\b")
"""Not `clip_grad_norm_`, which bounds the length of all gradients."""
_WHOSE = "those of another meaning of the code", "the code's"
SAMPLED = """\
energy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(energy.parameters(), lr=0.01)
chains = torch.rand(6, 2).requires_grad_(True)
for _ in range(5):
    x = chains[:4]
    for _ in range(2):
        slope, = torch.autograd.grad(energy(x).sum(), x)
        x -= 0.1 * slope.clamp(-1, 1)
        x += 0.02 * torch.randn(4, 2)
    loss = energy(torch.randn(6, 2)).mean() - energy(x.detach()).mean()
    train: loss
"""
MOVES = SAMPLED[SAMPLED.index("        x -=") : SAMPLED.index("    loss")]


def _off(text: str) -> str:
    return "        with torch.no_grad():\n" + "".join(f"    {line}\n" for line in text.splitlines())


PUSHED = """\
net, x, y = nn.Linear(3, 2), torch.randn(6, 3), torch.randint(0, 2, (6,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    push = torch.zeros(6, 3, requires_grad=True)
    F.cross_entropy(net(x + push), y).backward()
    push += 0.1 * push.grad.sign()
    push.clamp_(-0.3, 0.3)
    loss = F.cross_entropy(net(x + push.detach()), y)
    train: loss
"""
PUSHES = PUSHED[PUSHED.index("    push +=") : PUSHED.index("    loss")]
BY_NUMPY = """\
import numpy as np

net, x, y = nn.Linear(3, 2), torch.randn(6, 3), torch.randn(6, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def error(out, y):
    out, y = out.numpy(), y.numpy()
    return torch.tensor(np.mean(np.clip(out - y, -9, 9) ** 2))


for _ in range(5):
    loss = error(net(x), y)
    train: loss
"""
IN_NUMPY = BY_NUMPY[BY_NUMPY.index("    out, y =") : BY_NUMPY.index("\n\nfor")]
IN_TORCH = "    return (torch.clip(out - y, -9, 9) ** 2).mean()\n"
DIVIDED = """\
import numpy as np

net, x, y = nn.Linear(3, 2), torch.randn(6, 3), torch.randn(6, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def size(out):
    return torch.from_numpy(np.maximum(np.abs(out.numpy()).max(1, keepdims=True), 0.01))


for _ in range(5):
    out = net(x)
    loss = (out / size(out) - y).square().mean()
    train: loss
"""
BY_ARRAY = DIVIDED[DIVIDED.index("    return") : DIVIDED.index("\n\nfor")]
BY_TENSOR = "    with torch.no_grad():\n        return out.abs().amax(1, keepdim=True).clamp(min=0.01)\n"
SIMPLEX = """\
x, w = torch.randn(6, 4), nn.Parameter(torch.tensor([0.1, 0.2, 0.3, 0.4]))
optimizer = torch.optim.SGD([w], lr=0.01)
for _ in range(5):
    loss = (x @ w - 1).square().mean()
    train: loss
    w.copy_(w.clamp(min=0.02) / w.clamp(min=0.02).sum())
"""
PROJECTS = SIMPLEX.splitlines()[-1]
IN_NEW_MEMORY = "    w.data = w.data.clamp(min=0.02) / w.data.clamp(min=0.02).sum()"
IN_BALL = """\
codes, net = nn.Parameter(0.1 * torch.randn(6, 3)), nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    z = codes[:4]
    z /= z.norm(dim=1, keepdim=True).clamp(min=1)
    loss = (net(z) - 1).square().mean()
    slope, = torch.autograd.grad(loss, codes, retain_graph=True)
    train: loss
    with torch.no_grad():
        codes -= 0.1 * slope
"""
DIVIDES = IN_BALL.splitlines()[4]
AT_ONCE = "        x.add_({})\n"


class BoundIsAnother(Property):
    sentence = (
        "the edit touches how values are kept in a range. No value has left the range yet; once one does, gradients "
        "differ from {whose}"
    )
    raises = (
        Example(SAMPLED, MOVES, _off(AT_ONCE.format("(0.02 * torch.randn(4, 2) - 0.1 * slope).clamp(-1, 1)"))),
        Example(SAMPLED, MOVES, _off(MOVES.replace("slope.clamp(-1, 1)", "slope.clamp(-1, 2)"))),
        Example(BY_NUMPY, IN_NUMPY, IN_TORCH.replace(" 9)", " 19)")),
        Example(SIMPLEX, PROJECTS, IN_NEW_MEMORY.replace("0.02", "-2")),
        Example(DIVIDED, BY_ARRAY, BY_TENSOR.replace("0.01", "0.001")),
        Example(DIVIDED, BY_ARRAY, BY_TENSOR.replace("0.01)", "0.01, max=9)")),
        Example(IN_BALL, DIVIDES, DIVIDES.replace("z /=", "z = z /")),
        Example(IN_BALL, DIVIDES, f"    with torch.no_grad():\n    {DIVIDES}"),
    )
    silent = (
        Example(SAMPLED, MOVES, _off(MOVES)),
        Example(SAMPLED, MOVES, _off(MOVES.replace("slope.clamp(-1, 1)", "torch.clip(slope, min=-1, max=1.0)"))),
        Example(SAMPLED, MOVES, _off(AT_ONCE.format("0.02 * torch.randn(4, 2) - 0.1 * slope.clamp_(-1, 1)"))),
        Example(PUSHED, PUSHES, PUSHES.replace("push +", "push.data +").replace("push.c", "push.data.c")),
        Example(BY_NUMPY, IN_NUMPY, IN_TORCH),
        Example(DIVIDED, BY_ARRAY, BY_TENSOR),
        Example(DIVIDED, BY_ARRAY, BY_TENSOR.replace("clamp(", "clip(")),
        Example(SIMPLEX, PROJECTS, IN_NEW_MEMORY),
        Example(SIMPLEX, PROJECTS, f"    with torch.no_grad():\n    {PROJECTS}"),
        Example(PUSHED, PUSHES, "    push = (push + 0.1 * push.grad.sign()).clamp(-0.3, 0.3).detach()\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not _touched(evidence):
            return None
        letters = evidence.case.pool.letters
        meant = [] if letters.void else [replace(evidence.reading, refused=one.refused) for one in letters.readings]
        found = (self._against(evidence, one) for one in dict.fromkeys((evidence.reading, *meant)))
        return next((one for one in found if one is not None), None)

    def _against(self, evidence: Evidence, reading: Reading) -> Finding | None:
        """The finding against one meaning of what torch refuses: what a bound changes may tell it from another."""
        also, same = compared_with(evidence, reading), True
        for how in (Intervention.NONE, Intervention.BOUNDING):
            code, edited = evidence.of(reading, Treatment.FROZEN, how), evidence.of_edit(Treatment.FROZEN, how)
            if not same or comparable(code) or not edited.ended_well:
                return None
            same = not differences(code, edited, FROZEN, **also)
        return None if same else self.found(whose=_WHOSE[reading == evidence.reading])


def _touched(evidence: Evidence) -> bool:
    """Whether a line that the edit changes has a function that keeps values in a range."""
    for path, new in evidence.files.items():
        old = evidence.case.pool.target.read(path)
        for text, lines in ((new, changed_lines(old, new)), (old, changed_lines(new, old))):
            rows = text.splitlines()
            if any(_BOUNDS.search(rows[line - 1]) for line in lines):
                return True
    return False
