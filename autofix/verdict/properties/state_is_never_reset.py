"""A state goes on from pass to pass, and nothing calls the method that begins it anew

## What it finds

The passes hand a state on that an object keeps (`self.hidden`, a sum of penalties), and the edit cuts the graph between
them and keeps the value. The class has a method that gives the state its start again (`def reset(self)`), or an object
around it has one for all its parts; and nothing in the project calls it. Or a constructor alone takes the start from a
method (`self.hidden = self.init_hidden()`), which nothing else calls. This is read from the text, and not said

- where anything calls that method, if only at the begin of an epoch: then the state is carried on purpose;
- where the edit itself gives the state a start;
- of a method that needs an argument, or that makes the new value of the old one, as one that detaches does.

## Why it matters

Who writes such a method means to call it. Most often each sequence or batch is to begin anew, and the call was
forgotten: with the graph cut, each begins with what another one left.
"""

from __future__ import annotations

from autofix.probe import wire
from autofix.syntax.edits.passes.begun_elsewhere import begun_by_constructors, begun_by_nobody, times_begun
from autofix.verdict.property import Evidence, Example, Finding, OfACut

READER = """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRU(3, 4), nn.Linear(4, 1)
        self.hidden = torch.zeros(1, 1, 4)

    def again(self):
        self.hidden = torch.zeros(1, 1, 4)

    def forward(self, x):
        out, self.hidden = self.cell(x, self.hidden)
        return self.head(out[-1])


model = Reader()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    pass
    for x in torch.randn(4, 5, 1, 3):
        loss = (model(x) - x.mean()).square().mean()
        train: loss
"""
TAGGER = READER.replace(
    "self.hidden = torch.zeros(1, 1, 4)\n\n    def again", "self.hidden = self.start()\n\n    def again"
)
TAGGER = TAGGER.replace("def again(self):\n        self.hidden =", "def start(self):\n        return")
SUMMED = """\
class Layer(nn.Linear):
    penalty = 0

    def forward(self, x):
        self.penalty += self.weight.square().sum()
        return super().forward(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Layer(3, 4), Layer(4, 1)

    def clear(self):
        for part in (self.one, self.two):
            part.penalty = 0

    def forward(self, x):
        return self.two(self.one(x).tanh())


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(6, 5, 3):
    loss = model(x).square().mean() + 0.01 * (model.one.penalty + model.two.penalty)
    train: loss
"""
STEP = "        optimizer.step()\n"
CUT = (STEP, f"{STEP}        model.hidden = model.hidden.detach()\n")
CUTS = "    model.{0}.penalty = model.{0}.penalty.detach()\n"
BOTH = (STEP[4:], STEP[4:] + CUTS.format("one") + CUTS.format("two"))
DETACHING = READER.replace("torch.zeros(1, 1, 4)\n\n    def forward", "self.hidden.detach()\n\n    def forward")


class StateIsNeverReset(OfACut):
    sentence = (
        "`{path}` goes on from the iteration before. {who} calls `{method}`, which resets it: each iteration may be "
        "meant to begin with that call"
    )
    raises = (
        Example(READER, *CUT),
        Example(READER.replace("\n\n    def forward", "\n        return self\n\n    def forward"), *CUT),
        Example(SUMMED, *BOTH),
        Example(TAGGER, *CUT),
    )
    silent = (
        Example(TAGGER, STEP, f"{STEP}        model.hidden = model.start()\n"),
        Example(TAGGER.replace("    pass", "    model.hidden = model.start()"), *CUT),
        Example(SUMMED, STEP[4:], f"{STEP[4:]}    model.clear()\n"),
        Example(SUMMED, "    loss =", "    model.one.penalty = model.two.penalty = 0\n    loss ="),
        Example(READER.replace("    pass", "    model.again()"), *CUT),
        Example(READER.replace("again(self)", "again(self, batch)"), *CUT),
        Example(DETACHING, *CUT),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        failed, code, edited = evidence.failure.stack, evidence.sources, evidence.edited_sources
        for one, source, method, _ in begun_by_nobody(evidence.trace.crossings, failed, edited):
            if times_begun(one, failed, edited) > times_begun(one, failed, code):
                continue
            place = wire.Frame.around(str(source.path), method, method.name)
            return self.found((place,), path=one.path, method=f"{method.name}()", who="Nothing")
        for one, source, call, _ in begun_by_constructors(evidence.trace.crossings, failed, edited):
            if times_begun(one, failed, edited) == times_begun(one, failed, code):
                place = wire.Frame.around(str(source.path), call, "__init__")
                return self.found((place,), path=one.path, method=source.segment(call), who="Only a constructor")
        return None
