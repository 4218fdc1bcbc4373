"""Records of one pass that are still there in the next.

## What it does
Plays two passes of each loop and finds a list or dictionary that takes what each pass computes, with its graph, and
whose old entries go into the next pass's loss.

## Why it matters
The first backward frees the graphs of the old entries: "Trying to backward through the graph a second time".

## What it cannot tell
It stays silent where a network or a function is not in the project: it might detach, or empty the list.
"""

from __future__ import annotations

from autofix.check.abstract.tape import Event
from autofix.check.finder import Finder, Spot, examples, spot
from autofix.check.places import carried, collected, said


class RecordsNeverEmptied(Finder):
    code, name = "AG205", "records-never-emptied"
    title = "A list still holds what an earlier pass has computed, with its graph"
    kinds = {"twice": ""}
    finds, passes = examples("""\
net, saved = torch.nn.Linear(2, 1), []
!
for x in torch.randn(5, 4, 2):
    saved.append(net(x).tanh().mean())  # found
    loss = torch.stack(saved).sum()
    loss.backward()
!
class Memory:
    def __init__(self):
        self.rows = {}

    def put(self, key, row):
        self.rows[key] = row  # found

net, memory = torch.nn.Linear(2, 1), Memory()
for step, x in enumerate(torch.randn(5, 4, 2)):
    old = sum(memory.rows.values())
    row = net(x).tanh().mean()
    memory.put(step, row)
    (row + old).backward()
!
for x in torch.randn(5, 4, 2):
    saved.append(net(x).tanh().mean())
    loss = torch.stack(saved).sum()
    loss.backward()
    saved.clear()
!
for x in torch.randn(5, 4, 2):
    loss = net(x).tanh().mean()
    saved.append(loss.detach())
    (loss + torch.stack(saved).mean()).backward()
!
for x in torch.randn(5, 4, 2):
    loss = net(x).tanh().mean()
    loss.backward()
    saved.append(loss)
print(torch.stack(saved).mean())
""")

    def told(self, event: Event) -> Spot | None:
        place = collected(event)
        if not carried(event) or place is None:
            return None
        freed = event.caused_at
        message = (
            f"what is kept here is still there in the next pass, and the backward in {said(freed, event)} "
            "has freed its graph by then"
        )
        return spot(
            place,
            message,
            (freed, "this backward frees its graph"),
            (event.place, "this backward needs it in the next pass"),
        )
