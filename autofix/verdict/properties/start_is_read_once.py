"""Each pass has a start, and only the first one reads it

## What it finds

A conditional asks whether a variable holds anything yet (`if "word" in locals()`, `if self.state is None`), and where
it does not, takes a start that stands ready. Each pass makes that start anew, before a loop whose first step is to
begin with it; but the variable still holds what the pass before left, and only the first pass of all begins so. Or the
start is a parameter, which is trained in the first pass alone. The edit cuts the graph there, and keeps the value. This
is not said

- where the start is made where nothing is found (`if hidden is None: hidden = torch.zeros(…)`), or once before the
  passes: who carries a state over has to begin somewhere;
- where the steps read that value for something else, too, as a moving average that begins with its first value does;
- where the code itself empties the variable now and then, at the begin of an epoch or where an episode ends.

## Why it matters

Each sentence is then begun with the last word of another one, and trains otherwise. The start would not be made anew in
each pass if each were to go on from the last.
"""

from __future__ import annotations

import textwrap

from autofix.verdict.laws.what_is_shuffled_has_no_order import anew
from autofix.verdict.property import Evidence, Example, Finding, Property

WORDS = """\
encoder, cell, head = nn.Linear(3, 5), nn.GRUCell(4, 5), nn.Linear(5, 4)
optimizer = torch.optim.SGD([*encoder.parameters(), *cell.parameters(), *head.parameters()], lr=0.1)
for _ in range(5):
    x, told = torch.randn(6, 3), torch.randint(4, (3, 6))
    hidden, loss = encoder(x).tanh(), 0
    first = nn.functional.one_hot(torch.zeros(6, dtype=torch.long), 4).float()
    for right in told:
        if "word" in locals():
            given = word
        else:
            given = first
        hidden = cell(given, hidden)
        word = head(hidden).softmax(1)
        loss = loss + nn.functional.nll_loss(word.log(), right)
    train: loss
"""
CUT = ("    optimizer.step()\n", "    optimizer.step()\n    word = word.detach()\n")
MADE_THERE = WORDS.replace("given = first", "given = torch.zeros_like(x @ torch.ones(3, 4))")
ENCODED = """\
encoder, cell, head = nn.Linear(3, 4), nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *cell.parameters(), *head.parameters()], lr=0.1)
BEFORE
hidden = None
for window in range(6):
    EACH
    for _ in range(3):
        x = torch.randn(5, 3)
        if hidden is None:
            hidden = START
        hidden = cell(x, hidden)
    loss = head(hidden).square().mean()
    train: loss
"""
KEPT = ("    optimizer.step()\n", "    optimizer.step()\n    hidden = hidden.detach()\n")
BEGUN = ENCODED.replace("EACH", "first = encoder(torch.randn(5, 3)).tanh()").replace("START", "first")
EACH_BEGUN = BEGUN.replace("BEFORE", "")
ONCE = ENCODED.replace("EACH", "pass").replace("BEFORE", "first = torch.zeros(5, 4)").replace("START", "first")
FORGOTTEN = EACH_BEGUN.replace(
    "    for _ in range(3):", "    if window % 4 == 3:\n        hidden = None\n    for _ in range(3):"
)
TOP, LOOP = EACH_BEGUN.split("hidden = None\n")
EPOCH = f"def epoch():\n    hidden, seen = None, 0\n{textwrap.indent(LOOP, '    ')}"
BY_EPOCH = f"{TOP}{EPOCH}for _ in range(2):\n    epoch()\n"
AVERAGED = EACH_BEGUN.replace("hidden = cell(x, hidden)", "hidden = 0.9 * hidden + 0.1 * cell(x, first)")
WINDOWS = ENCODED.replace("BEFORE", "").replace("EACH", "pass").replace("START", "torch.zeros(len(x), 4)")
LEARNED = """\
class Evolving(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = FIRST
        self.cell, self.weight = nn.GRUCell(4, 4), None

    def again(self):
        self.weight = None

    def forward(self, x):
        weight = self.first if self.weight is None else self.weight
        self.weight = self.cell(weight, weight)
        return x @ self.weight


model = Evolving()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
weeks = torch.randn(4, 6, 4).cumsum(0)
for epoch in range(6):
    loss = sum((model(x) - x.roll(1, 0)).square().mean() for x in weeks)
    train: loss
"""
TRAINED = LEARNED.replace("FIRST", "nn.Parameter(torch.randn(4, 4))")
CONSTANT = LEARNED.replace("FIRST", "torch.randn(4, 4)")
AGAIN = TRAINED.replace("    loss = sum", "    if epoch % 4 == 3:\n        model.again()\n    loss = sum")
OF_MODEL = ("    optimizer.step()\n", "    optimizer.step()\n    model.weight = model.weight.detach()\n")


class StartIsReadOnce(Property):
    change = "begun"
    sentence = (
        "each iteration has `{start}` to begin with, but only the first one uses it. The others go on from `{path}` "
        "of the one before, which may be meant to be forgotten"
    )
    raises = (Example(WORDS, *CUT), Example(EACH_BEGUN, *KEPT), Example(TRAINED, *OF_MODEL))
    silent = (
        Example(FORGOTTEN, *KEPT),
        Example(BY_EPOCH, KEPT[0], f"{KEPT[0]}        hidden = hidden.detach()\n"),
        Example(WINDOWS, *KEPT),
        Example(ONCE, *KEPT),
        Example(MADE_THERE, *CUT),
        Example(AVERAGED, *KEPT),
        Example(CONSTANT, *OF_MODEL),
        Example(AGAIN, *OF_MODEL),
        Example(EACH_BEGUN, KEPT[0], f"{KEPT[0]}    hidden = None\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        begun = evidence.case.pool.begun
        if begun is None or begun.about != self.name:
            return None
        return self.found((begun.place,), start=begun.start, path=begun.path) if anew(evidence) else None
