"""The edit forgets a state that goes on from pass to pass, and no pass that ran needs it

## What it finds

The passes hand a state on: a call takes it and gives the next one (`out, hidden = rnn(x, hidden)`). The edit gives it
its start in each pass, or hands it to nothing any more, and still each gradient is that of the code: over a long
sequence a network that is not trained yet has forgotten how it began. This is read from the text, and not said

- of an edit that cuts the graph and keeps the value;
- where batches come in random order, or the program itself shows a start for each pass: then each is to begin anew;
- of a sum, to which passes only add.

## Why it matters

A network can learn to remember for longer. With the state that the code hands on, a later pass would then know what
came before; begun anew each time, it never does, and no gradient of the first steps tells the two apart.
"""

from __future__ import annotations

import ast

from autofix.syntax import calls, names
from autofix.syntax.edits.passes.begun_elsewhere import is_given, turns_begun
from autofix.syntax.edits.passes.shuffled import is_of_rows, shuffled
from autofix.syntax.source import Source
from autofix.verdict.property import Evidence, Example, Finding, Property

WINDOWS = """\
rnn, head = nn.GRU(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
stream = torch.randn(480, 1, 2).cumsum(0) / 8
for epoch in range(2):
    hidden = torch.zeros(1, 1, 3)
    for begin in ORDER:
        out, hidden = rnn(stream[begin : begin + 80], hidden)
        loss = (head(out[-1]) - 1).square().mean()
        train: loss
"""
IN_ORDER = WINDOWS.replace("ORDER", "range(0, 480, 80)")
SHUFFLED = WINDOWS.replace("ORDER", "torch.randperm(6).mul(80).tolist()")
READER = """\
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head, self.state = nn.GRU(2, 3), nn.Linear(3, 1), None

    def forward(self, x):
        out, self.state = self.rnn(x, self.state)
        return self.head(out[-1])


model = Reader()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for window in torch.randn(6, 80, 1, 2):
    loss = (model(window) - 1).square().mean()
    train: loss
"""
SUMMED = """\
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = torch.zeros(())
for x in torch.randn(6, 5, 2):
    total = torch.add(net(x).square().mean(), total)
    train: total
"""
_ADDS = frozenset({"add", "cat", "stack"})
"""What makes a sum or a list longer."""
BEGIN = "        out, hidden"
STEP = "        optimizer.step()\n"

APART = "h, c = state"
TAKEN_APART = IN_ORDER.replace("nn.GRU", "nn.LSTM").replace(
    "hidden = torch.zeros(1, 1, 3)", "state = [torch.zeros(1, 1, 3)] * 2"
)
TAKEN_APART = TAKEN_APART.replace("out, hidden", "out, state").replace("80], hidden)", "80], state)")


class StateIsForgotten(Property):
    change = "begun"
    sentence = (
        "as written, `{path}` goes on from the iteration before; with the edit it does not. No iteration that ran "
        "needs it, but the network can learn to"
    )
    raises = (
        Example(IN_ORDER, BEGIN, f"        hidden = torch.zeros(1, 1, 3)\n{BEGIN}"),
        Example(IN_ORDER, "80], hidden)", "80])"),
        Example(READER, STEP[4:], f"{STEP[4:]}    model.state = None\n"),
        Example(READER, "self.rnn(x, self.state)", "self.rnn(x)"),
    )
    silent = (
        Example(SHUFFLED, BEGIN, f"        hidden = torch.zeros(1, 1, 3)\n{BEGIN}"),
        Example(IN_ORDER, STEP, f"{STEP}        hidden = hidden.detach()\n"),
        Example(IN_ORDER, "80], hidden)", "80], hidden.detach())"),
        Example(READER, STEP[4:], f"{STEP[4:]}    model.state = model.state.detach()\n"),
        Example(SUMMED, STEP[4:], f"{STEP[4:]}    total = torch.zeros(())\n"),
        Example(TAKEN_APART, STEP, f"{STEP}        {APART}\n        state = h.detach(), c.detach()\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        failed, code, edited = evidence.failure.stack, evidence.sources, evidence.edited_sources
        crossings, before, after = evidence.trace.crossings, code.project_of(failed), edited.project_of(failed)
        begun = evidence.case.pool.begun
        taken = {carrier: one.used[:1] for one in crossings if one.by == "failing" for carrier in one.carriers}
        for one, place in taken.items():
            if not any(_takes(source, one.path) for source in before):
                continue
            if begun is not None and begun.path.rpartition(".")[2] == one.path.rpartition(".")[2]:
                continue
            if is_of_rows(code, one) and shuffled(code, failed, crossings):
                continue
            more = turns_begun(one, failed, edited) - turns_begun(one, failed, code)
            if more or not any(_is_handed(source, one.path) for source in after):
                return self.found(place, path=one.path)
        return None


def _takes(source: Source, path: str) -> bool:
    """Whether a call takes a state and gives the next one, where that is no sum."""
    made = (call for one in names.assignments(source, path) for call in calls.within(one))
    return any(calls.name_of(call) not in _ADDS and is_given(call, path) for call in made)


def _is_handed(source: Source, path: str) -> bool:
    return any(isinstance(one, ast.Call) and is_given(one, path) for one in source.mentioning(path))
