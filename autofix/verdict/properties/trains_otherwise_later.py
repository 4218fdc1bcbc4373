"""The edit trains otherwise later

## What it finds

In the passes compared the edit trains as the code does. Where the program compares something, or counts in turns, both
then go on: to the end of the script, or for a while, up to 200 steps. There a gradient, a step or a number that the
code prints, or takes of a tensor, is another, or the edited script fails where the code does not. Where the code dies
there itself, the edited script dies of what is autograd's.

## Why it matters

Much begins late: a loss that is added after some epochs, a window that grows, a part that is unfrozen, the best weights
that are put back. A cut or an alias that harms nothing before does so from there on.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property

KEPT = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
mean = torch.zeros(4)
for number in range(60):
    h = net(torch.randn(5, 3)).tanh()
    loss = (head(h + mean) - 1).square().mean()
    mean = 0.9 * mean + 0.1 * h.mean(0)
    if number >= 40:
        loss = loss + 0.1 * mean.square().mean()
    train: loss
print(loss.item())
"""
STORED = "0.1 * h.mean(0)", "(0.1 * h.mean(0)).detach()"
BEFORE = "    loss = (head", "    mean = mean.detach()\n    loss = (head"
WINDOW = """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.state = nn.GRUCell(3, 4), torch.zeros(5, 4)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state


reader = Reader()
optimizer = torch.optim.SGD(reader.parameters(), lr=0.1)
for number in range(60):
    loss = 0
    for _ in range(1 if number < 40 else 3):
        loss = loss + (reader(torch.randn(5, 3)) - 1).square().mean()
    train: loss
"""
IN_FORWARD = "self.cell(x, self.state)", "self.cell(x, self.state.detach())"
BEHIND = "    optimizer.step()\n", "    optimizer.step()\n    reader.state = reader.state.detach()\n"

DESCENT = """\
def descend(start, target):
    q = start.clone()
    for number in range(30):
        loss = (q - target).square().sum() + 0.1 * q.tanh().sum()
        loss.requires_grad_()
        loss.backward()
        q -= 0.1 * q.grad
        q.grad.zero_()
        if number % 10 == 0:
            print(loss.item())
    return q


q = torch.zeros(3)
for target in torch.randn(2, 3):
    q = descend(BEGINS, target)
"""
FROM_LAST = DESCENT.replace("BEGINS", "q")
FROM_VALUE = DESCENT.replace("BEGINS", "q.detach()")
LEAF = """\
    q = start.clone()
    for number in range(30):
        loss = (q - target).square().sum() + 0.1 * q.tanh().sum()
        loss.requires_grad_()
        loss.backward()
        q -= 0.1 * q.grad
"""
UPDATED = LEAF.replace("clone()", "clone().requires_grad_()").replace(
    "        q -= 0.1 * q.grad\n", "        with torch.no_grad():\n            q -= 0.1 * q.grad\n"
)


class TrainsOtherwiseLater(Property):
    last = True
    sentence = "behind the iterations compared, {what}"
    raises = (
        Example(WINDOW, *IN_FORWARD),
        Example(KEPT, *STORED),
        Example(FROM_LAST, LEAF, UPDATED),
    )
    silent = (
        Example(WINDOW, *BEHIND),
        Example(KEPT, *BEFORE),
        Example(FROM_VALUE, LEAF, UPDATED),
        Example(KEPT.replace("number >= 40", "number >= 400"), *STORED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.may_go_on:
            return None
        made = evidence.further(evidence.reading)
        if made is None:  # the code dies there itself, or the runs are not alike
            died = evidence.dies_further(evidence.reading)
            what = f"the edited script stops with {died}" if died else ""
        else:
            what = made.departure(printed=evidence.prints_alike)
        return self.found(what=what) if what else None
