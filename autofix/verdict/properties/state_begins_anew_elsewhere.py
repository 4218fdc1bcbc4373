"""A state goes on from pass to pass, and another loop begins it anew before each call

## What it finds

The passes hand a state on, kept on a module (`model.hidden`) or in a variable, and the edit cuts the graph between them
and keeps the value. Another loop of the project, which goes backward nowhere, gives the state its start again in each
turn before it calls the same module (`model.hidden = model.init_hidden()`), as an evaluation of independent sequences
does. This is read from the text, and not said

- where that loop begins with the start once, before its first turn: it hands the state on, as training does;
- where it gives another module its start;
- where training itself gives the state its start now and then, as at the begin of an epoch;
- of an average or a sum that is put back nowhere.

## Why it matters

Evaluation says what one call is meant to begin with. If the sequences are independent there, they are in training, too,
and the reset was forgotten: with the graph cut, each begins with what another one left.
"""

from __future__ import annotations

import ast

from autofix.probe import wire
from autofix.syntax.edits.passes.begun_elsewhere import begun_elsewhere
from autofix.verdict.property import Evidence, Example, Finding, OfACut

READER = """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRU(3, 4), nn.Linear(4, 1)
        self.again()

    def again(self):
        self.hidden = torch.zeros(1, 1, 4)

    def forward(self, x):
        out, self.hidden = self.cell(x, self.hidden)
        return self.head(out[-1])


def evaluate(net, other):
    with torch.no_grad():
        BEFORE
        for x in torch.randn(3, 5, 1, 3):
            EACH
            net(x)


model, second = Reader(), Reader()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    FIRST
    for x in torch.randn(4, 5, 1, 3):
        loss = (model(x) - x.mean()).square().mean()
        train: loss
    evaluate(model, second)
"""


def _reader(first: str = "pass", before: str = "pass", each: str = "pass") -> str:
    return READER.replace("FIRST", first).replace("BEFORE", before).replace("EACH", each)


HANDED = """\
cell, head = nn.GRU(3, 4), nn.Linear(4, 1)


def evaluate():
    BEFORE
    for x in torch.randn(3, 5, 1, 3):
        EACH
        out, hidden = cell(x, hidden)
        print(head(out).mean().item())


def train():
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
    hidden = torch.zeros(1, 1, 4)
    for x in torch.randn(4, 5, 1, 3):
        out, hidden = cell(x, hidden)
        loss = head(out).square().mean()
        train: loss


train()
evaluate()
"""
ZERO = "hidden = torch.zeros(1, 1, 4)"
STEP = "        optimizer.step()\n"
CUT = (STEP, f"{STEP}        model.hidden = model.hidden.detach()\n")
CUT_VARIABLE = (STEP, f"{STEP}        hidden = hidden.detach()\n")
AVERAGED = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net.mean = torch.zeros(4)
for x in torch.randn(4, 5, 3):
    out = net(x)
    net.mean = 0.9 * net.mean + 0.1 * out.mean(0)
    loss = (out - net.mean).square().mean()
    train: loss
for x in torch.randn(3, 5, 3):
    out = net(x) - net.mean
"""


class StateBeginsAnewElsewhere(OfACut):
    sentence = (
        "`{path}` goes on from the iteration before, but line {line} of {file} resets it before each call "
        "(`{start}`). Training may be meant to reset it, too"
    )
    raises = (
        Example(_reader(each=f"net.{ZERO}"), *CUT),
        Example(_reader(each="net.again()"), *CUT),
        Example(HANDED.replace("BEFORE", "pass").replace("EACH", ZERO), *CUT_VARIABLE),
    )
    silent = (
        Example(_reader(before="net.again()"), *CUT),
        Example(_reader(before="net.again()\n        net(torch.randn(5, 1, 3))"), *CUT),
        Example(_reader(first="model.again()", each="net.again()"), *CUT),
        Example(_reader(each=f"other.{ZERO}"), *CUT),
        Example(HANDED.replace("BEFORE", ZERO).replace("EACH", "hidden = hidden.detach()"), *CUT_VARIABLE),
        Example(AVERAGED, "    optimizer.step()\n", "    optimizer.step()\n    net.mean = net.mean.detach()\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        for one, source, begun, _ in begun_elsewhere(
            evidence.trace.crossings, evidence.failure.stack, evidence.sources
        ):
            place = wire.Frame.of_line(str(source.path), begun.lineno)
            words = {"line": str(begun.lineno), "file": source.path.name, "start": ast.unparse(begun)}
            return self.found((place,), path=one.path, **words)
        return None
