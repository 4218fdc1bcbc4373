"""A graph that is made once, before the loop, and used in every iteration.

## What it does
Plays two passes of each loop and finds a backward that needs what was computed before the loop from something that
requires a gradient: a forward outside the loop, features of an unfrozen network, a cached matrix.

## Why it matters
The first pass's backward frees that graph: "Trying to backward through the graph a second time".

## What it cannot tell
It stays silent where a network or a function is not in the project, and where parameters may be frozen.
"""

from __future__ import annotations

from autofix.check.abstract.tape import Event
from autofix.check.finder import Finder, Spot, examples, spot
from autofix.check.places import earlier_pass, made, made_once, said, taken_in


class GraphMadeOnce(Finder):
    code, name = "AG204", "graph-made-once"
    title = "A graph is made before the loop and used in every pass"
    kinds = {"twice": ""}
    finds, passes = examples("""\
!
lift, net = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
data = lift(torch.randn(4, 2)).tanh()  # found
for _ in range(5):
    net(data).mean().backward()
!
w = torch.randn(3, requires_grad=True)
loss = (w ** 2).sum()
for _ in range(5):
    loss.backward()  # found
    w.data -= 0.1 * w.grad
!
lift, net = torch.nn.Linear(2, 3).requires_grad_(False), torch.nn.Linear(3, 1)
data = lift(torch.randn(4, 2)).tanh()
for _ in range(5):
    net(data).mean().backward()
!
lift, net = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
with torch.no_grad():
    data = lift(torch.randn(4, 2)).tanh()
for _ in range(5):
    net(data).mean().backward()
!
w = torch.randn(3, requires_grad=True)
loss = (w ** 2).sum()
for _ in range(5):
    loss.backward(retain_graph=True)
""")

    def told(self, event: Event) -> Spot | None:
        loop = earlier_pass(event)
        if not made_once(event) or loop is None:
            return None
        freed = event.caused_at
        begins = said(loop.place, event)
        if event.user is None:
            message = f"this loss is computed before the loop of {begins}, and the first backward frees its graph"
            return spot(event.place, message, (made(event), "its graph is made here"))
        message = (
            f"this is computed before the loop of {begins} and used in each of its passes; "
            f"the first backward, in {said(freed, event)}, frees its graph"
        )
        return spot(
            made(event),
            message,
            (taken_in(event), "it is used here in each pass"),
            (event.place, "this backward needs its graph in the next pass"),
        )
