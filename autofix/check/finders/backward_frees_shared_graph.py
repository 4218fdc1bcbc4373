"""Two backwards through one graph, the first of which frees it.

## What it does
Plays the file and finds a `backward()` or `autograd.grad()` that needs a part of the graph which an earlier one in the
same pass has freed: the same loss twice, several losses of one forward, a loop over losses.

## Why it matters
The first backward frees what the second needs: "Trying to backward through the graph a second time". Often the cure is
a sum of both losses, or `retain_graph=True`; only a run can tell.

## What it cannot tell
It stays silent where a network or a function is not in the project, and where parameters may be frozen.
"""

from __future__ import annotations

from autofix.check.abstract.tape import Event
from autofix.check.finder import Finder, Spot, examples, spot
from autofix.check.places import apart, carried, earlier_pass, made, made_once, said, seen_from_backward


class BackwardFreesSharedGraph(Finder):
    code, name = "AG201", "backward-frees-shared-graph"
    title = "Two backwards through one graph"
    kinds = {"twice": ""}
    finds, passes = examples("""\
!
trunk, a, b = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
for _ in range(4):
    h = trunk(torch.randn(4, 2))
    first, second = a(h).mean(), b(h).mean()
    first.backward()
    second.backward()  # found
!
def train(model, x):
    loss = model(x).mean()
    loss.backward()
    loss.backward()  # found
!
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.a, self.b = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)

    def losses(self, x):
        h = self.trunk(x).tanh()
        return {"a": self.a(h).mean(), "b": self.b(h).mean()}

net = Net()
for name, loss in net.losses(torch.randn(4, 2)).items():
    (2 * loss).backward()  # found
!
G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
for _ in range(4):
    fake = G(torch.randn(4, 2))
    d_loss = D(fake.detach()).mean()
    d_loss.backward()
    g_loss = -D(fake).mean()
    g_loss.backward()
!
def train(trunk, a, b, x):
    h = trunk(x)
    first = a(h).mean()
    second = b(h).mean()
    first.backward()
    second.backward()
!
trunk, a, b = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
h = trunk(torch.randn(4, 2))
first, second = a(h).mean(), b(h).mean()
first.backward(retain_graph=True)
second.backward()
!
w = torch.ones(3, requires_grad=True)
total = w.sum()
total.backward()
total.backward()
""")

    def told(self, event: Event) -> Spot | None:
        same = earlier_pass(event) is None
        if carried(event) or made_once(event) or (same and apart(event) is not None):
            return None
        freed = event.caused_at
        message = f"this backward needs a graph that the backward in {said(freed, event)} has freed"
        return spot(
            event.place,
            message,
            (freed, "this backward frees the graph"),
            (made(event), "the part that both need is made here"),
            (seen_from_backward(event.user, event), "it is used here after it was freed"),
        )
