"""A loss that was taken out of the graph on its way to backward.

## What it does
Plays the file and finds a `backward()` on what surely requires no gradient, and says where the graph ended: `.item()`,
`.detach()`, `.data`, numpy, `torch.tensor(losses)`, `argmax`, a comparison, a derivative without `create_graph`, a
parameter that was frozen, gradients that were switched off.

## Why it matters
torch refuses: "element 0 of tensors does not require grad and does not have a grad_fn".

## What it cannot tell
It stays silent where any part of the loss may require a gradient.
"""

from __future__ import annotations

from autofix.check.abstract.tape import Event
from autofix.check.finder import Finder, Spot, examples, spot
from autofix.check.places import said

_WORDS = {
    "grad": "a derivative without create_graph=True has no graph", ".grad": "`.grad` has no graph",
    "frozen": "requires_grad is switched off here", "off": "gradients are switched off here",
}  # fmt: skip


class LossCutFromGraph(Finder):
    code, name = "AG401", "loss-cut-from-graph"
    title = "backward() from a loss that has no graph"
    kinds = {"no-graph": ""}
    finds, passes = examples("""\
net = torch.nn.Linear(2, 1)
!
losses = []
for x in torch.randn(3, 4, 2):
    losses.append(net(x).mean().item())  # found
torch.tensor(losses).mean().backward()
!
net = torch.nn.Linear(2, 3)
target = torch.randint(0, 3, (4,))
wrong = (net(torch.randn(4, 2)).argmax(1) != target).float()  # found
wrong.mean().backward()
!
with torch.no_grad():  # found
    loss = net(torch.randn(4, 2)).mean()
loss.backward()
!
losses = [net(x).mean() for x in torch.randn(3, 4, 2)]
torch.stack(losses).mean().backward()
print(sum(loss.item() for loss in losses))
!
with torch.no_grad():
    target = net(torch.randn(4, 2))
loss = (net(torch.randn(4, 2)) - target).pow(2).mean()
loss.backward()
!
net, x = torch.nn.Linear(2, 1), torch.randn(4, 2, requires_grad=True)
net(x).tanh().sum().backward(create_graph=True, inputs=[x])
penalty = (x.grad.norm(dim=1) - 1).pow(2).mean()
penalty.backward()
!
def step(loss_of, x):
    with torch.no_grad():
        loss = loss_of(x)
    loss.backward()
""")

    def told(self, event: Event) -> Spot | None:
        cause = event.cause
        if cause is None:
            return None  # a number in place of a loss, or data that a play takes for a tensor without a graph
        what = _WORDS.get(cause.text, f"{cause.text} has no graph")
        message = f"{what}; the loss that goes backward in {said(event.place, event)} is made of this alone"
        return spot(cause.place, message, (event.place, "this backward finds no graph"))
