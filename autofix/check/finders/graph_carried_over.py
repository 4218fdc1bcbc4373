"""A graph that is carried from one iteration into the next.

## What it does
Plays two passes of each loop and finds a backward that needs what an earlier pass has computed: a hidden state, a
running total, an attribute or a memory that keeps its graph.

## Why it matters
The backward of one pass frees its graph, and the next pass runs into it: "Trying to backward through the graph a second
time". With `retain_graph=True` each pass would take longer than the last, without bound.

## What it cannot tell
It stays silent where a network or a function is not in the project: it might detach.
"""

from __future__ import annotations

from autofix.check.abstract.tape import Event
from autofix.check.finder import Finder, Spot, examples, spot
from autofix.check.places import carried, collected, earlier_pass, made, said, taken_in


class GraphCarriedOver(Finder):
    code, name = "AG203", "graph-carried-over"
    title = "A state is carried into the next iteration with its graph"
    kinds = {"twice": ""}
    finds, passes = examples("""\
!
rnn, head = torch.nn.GRU(2, 4), torch.nn.Linear(4, 1)
h = torch.zeros(1, 3, 4)
for x in torch.randn(5, 7, 3, 2):
    out, h = rnn(x, h)  # found
    loss = head(out).mean()
    loss.backward()
!
def train(model, batches):
    total = 0
    for x in batches:
        total += model(x).mean()  # found
        total.backward()
!
class Leaky(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mem, self.fc = torch.zeros(3), torch.nn.Linear(2, 3)

    def forward(self, x):
        self.mem = 0.9 * self.mem + self.fc(x)  # found
        return self.mem.tanh()

net = Leaky()
for x in torch.randn(5, 4, 2):
    net(x).mean().backward()
!
rnn, head = torch.nn.GRU(2, 4), torch.nn.Linear(4, 1)
h = torch.zeros(1, 3, 4)
for x in torch.randn(5, 7, 3, 2):
    out, h = rnn(x, h.detach())
    loss = head(out).mean()
    loss.backward()
!
rnn, head = torch.nn.GRU(2, 4), torch.nn.Linear(4, 1)
for x in torch.randn(5, 7, 3, 2):
    h = torch.zeros(1, 3, 4)
    for part in x.split(2):
        out, h = rnn(part, h)
    head(out).mean().backward()
!
def train(model, batches):
    for x in batches:
        total = 0
        for part in x:
            total += model(part).mean()
        total.backward()
!
def train(model, batches):
    h = None
    for x in batches:
        out, h = model(x, h)
        out.mean().backward()
""")

    def told(self, event: Event) -> Spot | None:
        if not carried(event) or collected(event) is not None:
            return None
        freed, loop = event.caused_at, earlier_pass(event)
        begins = f"the loop of {said(loop.place if loop is not None else None, event)}"
        message = (
            f"what an earlier pass of {begins} computed is used here with its graph, "
            f"which the backward in {said(freed, event)} has freed"
        )
        return spot(
            taken_in(event),
            message,
            (made(event), "it is computed here"),
            (freed, "this backward frees its graph"),
            (event.place, "this backward needs it in the next pass"),
        )
