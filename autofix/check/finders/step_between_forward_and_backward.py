"""An optimizer step between a forward and the backward that needs the old parameters.

## What it does
Plays the file and finds a `step()` (or a `load_state_dict`) that changes parameters after a forward has used them and
before that forward's backward.

## Why it matters
Backward finds parameters that are newer than those that were saved: "one of the variables needed for gradient
computation has been modified by an inplace operation".

## What it cannot tell
It stays silent where the optimizer's parameters are not known, or where none of them has a gradient.
"""

from __future__ import annotations

from autofix.check.abstract.tape import Event
from autofix.check.finder import Finder, Spot, examples, spot
from autofix.check.places import said, seen_from_backward, together


class StepBetweenForwardAndBackward(Finder):
    code, name = "AG102", "step-between-forward-and-backward"
    title = "step() between a forward and its backward"
    kinds = {"overwritten": ""}
    finds, passes = examples("""\
!
G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(3):
    fake = G(torch.randn(4, 2))
    g_loss = -D(fake).mean()
    d_loss = D(fake.detach()).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()  # found
    train[opt_g]: g_loss
!
def train(net, x):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    out = net(x)
    out.mean().backward(retain_graph=True)
    opt.step()  # found
    out.sum().backward()

train(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1)), torch.randn(4, 2))
!
G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(3):
    fake = G(torch.randn(4, 2))
    train[opt_d]: D(fake.detach()).mean()
    train[opt_g]: (-D(fake).mean())
!
net = torch.nn.Linear(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.randn(4, 2))
opt.step()
out.mean().backward()
""")

    def told(self, event: Event) -> Spot | None:
        cause, node = event.cause, event.node
        if cause is None or node is None or cause.text not in {"step", "load_state_dict"}:
            return None
        used = seen_from_backward(node, event)
        message = f"this changes parameters that the forward in {said(used, event)} used and its backward still needs"
        return spot(
            together(cause.place, event.place),
            message,
            (used, "the parameters are used here"),
            (event.place, "this backward needs them as they were"),
        )
