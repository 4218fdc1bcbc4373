"""A part of a state begins anew in each pass, and the part that is cut goes on

## What it finds

The failing graph comes through an attribute (`self.speed`) that is made of another one of the same object
(`self.place`); and that one is made of it, or what the method returns is. A method puts the other back to a start
(`self.place = self.start.clone()`), and leaves this one as it is. The edit cuts the graph of this one between the
passes, and keeps its value. This is read from the text, and not said of what no method puts back, nor of a sum or a
counter of which nothing else is made.

## Why it matters

A simulation or a cache that is half put back goes on with what the pass before left in the other half. It is usually
meant to begin anew as a whole: then the graph ends there, too, and every pass is the same experiment.
"""

from __future__ import annotations

from autofix.probe import wire
from autofix.syntax.edits.passes.resets import left_as_it_is
from autofix.verdict.property import Evidence, Example, Finding, OfACut

SWING = """\
class Swing:
    def __init__(self):
        self.start = torch.ones(3)
        self.speed = torch.zeros(3)
        self.reset()

    def reset(self):
        self.place = RESET
        self.time = 0

    def move(self, stiffness):
        force = -stiffness * self.place
        self.speed = self.speed + 0.1 * force
        self.place = self.place + 0.1 * self.speed
        self.time += 1


stiffness = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([stiffness], lr=0.1)
swing = Swing()
for _ in range(5):
    BEGIN
    for _ in range(4):
        swing.move(stiffness)
    loss = (swing.place + 1).square().mean()
    train: loss
"""
CUT = ("    optimizer.step()\n", "    optimizer.step()\n    swing.speed = swing.speed.detach()\n")
HALF = SWING.replace("BEGIN", "swing.reset()").replace("RESET", "self.start.clone()")
NEVER = SWING.replace("BEGIN", "pass").replace("RESET", "self.start.clone()")
BOTH = ("    optimizer.step()\n", f"{CUT[1]}    swing.place = swing.place.detach()\n")
COUNTED = HALF.replace("self.place = self.start", "self.total = 0 * self.start").replace(
    "        self.time += 1", "        self.total = self.total + self.place.detach()\n        self.time += 1"
).replace("self.reset()", "self.place = self.start.clone()")  # fmt: skip

CELL = """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)
        self.memory = torch.zeros(1, 4)
        self.hidden = torch.zeros(1, 4)

    def begin(self):
        BEGIN

    def forward(self, x):
        self.hidden, self.memory = self.cell(x, (self.hidden, self.memory))
        return self.hidden


reader = Reader()
optimizer = torch.optim.SGD(reader.parameters(), lr=0.1)
for _ in range(5):
    reader.begin()
    for _ in range(3):
        out = reader(torch.randn(1, 3))
    loss = (out - 1).square().mean()
    train: loss
"""
ZERO = "self.hidden = torch.zeros(1, 4)"
KEPT = ("    optimizer.step()\n", "    optimizer.step()\n    reader.memory = reader.memory.detach()\n")
SENDER = """\
class Sender(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.encode = nn.GRUCell(3, 4), nn.Linear(4, 4)
        self.hidden = self.sent = torch.zeros(1, 4)

    def begin(self):
        BEGIN

    def forward(self, x):
        self.hidden = self.cell(x, self.hidden)
        value, message = self.encode(self.hidden), self.hidden.tanh()
        self.sent = torch.where((message - self.sent).abs() > 0.1, message, self.sent)
        return value + self.sent


reader = Sender()
""" + CELL.split("reader = Reader()\n")[1]
SENT = (KEPT[0], KEPT[1].replace("memory", "sent"))
SENT_TOO = (SENT[0], f"{SENT[1]}    reader.hidden = reader.hidden.detach()\n")
BOTH_KEPT = ("    optimizer.step()\n", f"{KEPT[1]}    reader.hidden = reader.hidden.detach()\n")


class StateIsResetInPart(OfACut):
    sentence = "`{method}` resets {other}, but leaves {kept} as it is; it may be meant to reset both"
    raises = (
        Example(HALF, *CUT),
        Example(CELL.replace("BEGIN", ZERO), *KEPT),
        Example(SENDER.replace("BEGIN", ZERO), *SENT),
    )
    silent = (
        Example(NEVER, *BOTH),
        Example(COUNTED, *BOTH),
        Example(CELL.replace("BEGIN", "pass"), *BOTH_KEPT),
        Example(SENDER.replace("BEGIN", "pass"), *SENT_TOO),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        sources = evidence.sources
        callers = sources.project(str(evidence.case.pool.target.script))
        carriers = (one for crossing in evidence.trace.crossings for one in crossing.carriers if one.kind == "tensor")
        for one in dict.fromkeys(carriers):
            if (source := sources.source(one.file)) is None:
                continue
            for left in left_as_it_is(sources, source, one.path, callers):
                place = wire.Frame.of_line(one.file, left.value.lineno, one.function)
                other = f"{one.path.partition('.')[0]}.{left.other}"
                return self.found((place,), kept=one.path, other=other, method=left.method.name)
        return None
