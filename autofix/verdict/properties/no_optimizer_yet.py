"""A parameter without an optimizer is cut off

## What it finds

The edit cuts off a parameter that gets a gradient in the code as written and that no optimizer owns within the passes
compared; the script goes on after them. It is not said where the text of the program shows that nothing behind them, in
whatever branch, makes an optimizer, gives one more to own, or asks for a gradient to step by hand. What cannot be read
there counts: packages that may train, functions that are given away as values, names that are made up.

## Why it matters

A later phase may train it: an encoder whose features are computed before the loop that trains a head alone.
"""

from __future__ import annotations

from collections import Counter

from autofix.probe import wire
from autofix.verdict.property import Evidence, Example, Finding, Property
from autofix.verdict.to_come import may_train_more

TWO_PHASES = """\
encoder, head = nn.Linear(4, 8), nn.Linear(8, 1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
seen = encoder(x)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(200):
    loss = (head(seen) - y).square().mean()
    train: loss
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
for _ in range(200):
    loss = (head(encoder(x)) - y).square().mean()
    train: loss
"""
ENDLESS = TWO_PHASES.partition("optimizer = torch.optim.SGD([")[0]
ONE_PHASE = ENDLESS.replace("200", "6")
AT_TIMES = (
    ENDLESS
    + """\
    if loss.item() < 1e-9:
        optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
"""
)
IN_FUNCTIONS = """\
encoder, head = nn.Linear(4, 8), nn.Linear(8, 1)
x, y = torch.randn(32, 4), torch.randn(32, 1)
def optimizer_of(parameters):
    return torch.optim.SGD(parameters, lr=0.1)
def train(seen):
    optimizer = optimizer_of([*head.parameters()])
    for _ in range(200):
        loss = (head(seen) - y).square().mean()
        train: loss
def tune():
    optimizer = optimizer_of([*encoder.parameters()])
seen = encoder(x)
train(seen)
print("done")
"""
AND_TUNED = IN_FUNCTIONS + "tune()\n"
FROM_TABLE = IN_FUNCTIONS + "for phase in {'tune': tune}.values():\n    phase()\n"
EDIT = ("seen = encoder(x)", "seen = encoder(x).detach()")

FORCES = """\
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(200):
    x = torch.randn(6, 3, requires_grad=True)
    x = x - x.mean(0)
    energy = net(x).sum()
    energy.backward(create_graph=True)
    loss = (energy - 1).square() + (x.grad - 1).square().mean()
    train: loss
"""
LOOKED_AT = ("x.mean(0)", "x.mean(0)\n    x.retain_grad()")

STARTS = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for _ in range(200):
    start = torch.zeros(5, 4, requires_grad=True)
    seen = torch.zeros(5, 2, 4, requires_grad=True)
    h = start
    for i in range(2):
        h = cell(torch.randn(5, 3), h)
        seen[:, i] = h
    train: seen.square().mean()
"""
FLAG = (", requires_grad=True", "")

EQUATION = """\
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
points, times = torch.rand(20, 1, requires_grad=True), torch.rand(20, 1, requires_grad=True)


def slope(u, x, **how):
    return torch.autograd.grad(u.sum(), x, **how)[0]


def residual(x, t):
    u = net(torch.cat([x, t], 1))
    u_x = slope(u, x, create_graph=True)
    return slope(u, t, create_graph=True) - slope(u_x, x)


for _ in range(200):
    loss = residual(points, times).square().mean()
    train: loss
"""
THROUGH = ("slope(u_x, x)", "slope(u_x, x, create_graph=True)")

CODES = """\
codes = {}


def code_of(k):
    if k not in codes:
        codes[k] = torch.ones(3, requires_grad=True)
    return codes[k]


net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4))
optimizer, data = torch.optim.SGD(net.parameters(), lr=0.1), torch.randn(200, 4)
for epoch in range(3):
    if epoch == 1:
        optimizer.add_param_group({"params": [*codes.values()]})
    for k in range(200):
        seen = torch.zeros(2, 4, requires_grad=True)
        for i in range(2):
            seen[i] = net(code_of(k).relu() * (i + 1))
        loss = (seen - data[k]).square().mean()
        train: loss
"""
FLAG_AND_CODES = (
    "2, 4, requires_grad=True)\n        for i in range(2):\n            seen[i] = net(code_of(k)",
    "2, 4)\n        for i in range(2):\n            seen[i] = net(code_of(k).detach()",
)


class NoOptimizerYet(Property):
    sentence = "{subject} gets no gradient any more. No optimizer owns it yet, but one that is made later may"
    raises = (
        *(Example(one, *EDIT) for one in (TWO_PHASES, AT_TIMES, AND_TUNED, FROM_TABLE)),
        Example(CODES, *FLAG_AND_CODES),
    )
    silent = (
        *(Example(one, *EDIT) for one in (ONE_PHASE, ENDLESS, IN_FUNCTIONS)),
        Example(FORCES, *LOOKED_AT),
        Example(STARTS, *FLAG),
        Example(EQUATION, *THROUGH),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        letter = evidence.letter
        if letter.outcome != "stopped" or not letter.steps:
            return None
        # What the script itself writes (a target network, an average) is kept up by hand, not trained.
        known = {name for names in letter.names[: len(letter.counts)] for name in names}
        known |= {state.name for state in letter.states if state.changed}
        known |= _reached(evidence.edited)
        # A leaf that only one of two readings of the code makes is none that a later optimizer could own.
        sure = set.intersection(*(_reached(evidence.of(one)) for one in evidence.case.pool.letters.readings))
        for reach in letter.reaches:
            # Several leaves of one name are made anew in each pass: none of them is there for a later optimizer.
            once = [name for name, leaves in Counter(reach.parameters).items() if leaves == 1]
            gone = [name for name in once if name in sure and name not in known]
            if gone and may_train_more(evidence.sources, letter.going_on):
                return self.found(reach.stack, subject=gone[0])
        return None


def _reached(run: wire.Trace) -> set[str]:
    return {name for reach in run.reaches for name in reach.parameters}
