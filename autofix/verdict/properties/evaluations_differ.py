"""The evaluations of a closure do not start from the same

## What it finds

L-BFGS calls its closure several times within one step. With the edit, each call still starts from a state that the call
before has left. An example is a recurrent module that keeps its hidden state as an attribute. This is not said of a
state that was made before the step and stays the same in all calls, nor of one that each call sets anew.

## Why it matters

L-BFGS compares the losses of these calls and builds its search direction from their gradients. It assumes that they
are all of one function of the parameters. Each call should start from the state that there was before the step, cut
from its graph.
"""

from __future__ import annotations

from autofix.verdict.property import Example, Seen

WINDOWS = """\
class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head, self.state = nn.GRUCell(2, 3), nn.Linear(3, 1), torch.zeros(4, 3)

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.head(self.state)


net = Stateful()
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=3)
for _ in range(5):
    window = torch.randn(4, 2)

    def closure():
        optimizer.zero_grad()
        loss = (net(window) - 1).square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)
"""
KEPT = "self.state = self.cell(x, self.state)"
CUT = "self.state = self.cell(x, self.state.detach())"
# Every evaluation but the first of all goes on from the last one of the window before.
BEFORE = WINDOWS.replace(
    "    def forward(self, x):\n        self.state =", "    def forward(self, x):\n        self.now ="
)
BEFORE = BEFORE.replace("self.head(self.state)", "self.head(self.now)")
BEFORE += "    net.state = net.now\n"
HANDED = ("net.state = net.now", "net.state = net.now.detach()")
ONCE = WINDOWS.replace("max_iter=3", "max_iter=1")


class EvaluationsDiffer(Seen):
    fact = "evaluation-goes-on"
    runs = ("letter",)
    sentence = (
        "the closure is called several times in one step, and each call starts from the state that the call before left"
    )
    raises = (Example(WINDOWS, KEPT, CUT),)
    silent = (Example(BEFORE, *HANDED), Example(ONCE, KEPT, CUT))
