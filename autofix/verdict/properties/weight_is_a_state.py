"""A weight of a layer goes on from pass to pass

## What it finds

Each pass writes to a weight of one of torch's layers what a trained tensor makes of it: a learned scale is folded into
frozen weights, a small update is added to them. The next pass finds what this one left, and writes again. The edit cuts
the weight between the passes, and it still goes on.

## Why it matters

What a layer has is its weight, and no state. The scale piles up from pass to pass, where each pass is usually meant to
begin with the weight as it was loaded. A state is a tensor that the module keeps beside its layers, or a buffer.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, OfACut

FOLDED = """\
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3).requires_grad_(False)
        self.scale = nn.Parameter(torch.rand(3, 1) + 0.5)
    def forward(self, x):
        self.layer.weight.mul_(self.scale.tanh() + 0.5)
        return self.layer(x)
net, head = Scaled(), nn.Linear(3, 1)
optimizer = torch.optim.SGD([net.scale, *head.parameters()], lr=0.01)
for _ in range(5):
    loss = (head(net(torch.randn(6, 3)).tanh()) - 1).square().mean()
    train: loss
"""
STATE = FOLDED.replace(
    "self.layer.weight.mul_(self.scale.tanh() + 0.5)\n        return self.layer(x)",
    "self.state.mul_(self.scale.tanh()).add_(x.mean(0))\n        return self.layer(x) * self.state[0]",
).replace(
    "        self.scale =",
    "        self.state = nn.Parameter(torch.zeros(3, 3), requires_grad=False)\n        self.scale =",
)
IN_A_ROW = STATE.replace("Scaled(nn.Module)", "Scaled(nn.Sequential)")
ADAPTER = """\
class Adapter(nn.Linear):
    def __init__(self):
        super().__init__(3, 3)
        self.requires_grad_(False)
        self.up, self.down = nn.Parameter(0.1 * torch.ones(3, 1)), nn.Parameter(torch.rand(1, 3))
    def forward(self, x):
        self.weight.add_(self.up @ self.down)
        return F.linear(x, self.weight, self.bias)
net, head = Adapter(), nn.Linear(3, 1)
optimizer = torch.optim.SGD([net.up, net.down, *head.parameters()], lr=0.01)
for _ in range(5):
    loss = (head(net(torch.randn(6, 3)).tanh()) - 1).square().mean()
    train: loss
"""
CUT_OWN = "        self.weight.add_", "        self.weight.detach_()\n        self.weight.add_"
CUT = "    def forward(self, x):\n", "    def forward(self, x):\n        self.layer.weight.detach_()\n"


class WeightIsAState(OfACut):
    sentence = (
        "the edit lets the {subject} go on from iteration to iteration, each of which writes to it anew; each may be "
        "meant to begin with the weight as it was"
    )
    raises = (
        Example(FOLDED, *CUT),
        Example(ADAPTER, *CUT_OWN),
        Example(FOLDED, "    train: loss\n", "    train: loss\n    net.layer.weight.detach_()\n"),
    )
    silent = (
        Example(IN_A_ROW, CUT[0], CUT[1].replace("layer.weight", "state")),
        Example(STATE, CUT[0], CUT[1].replace("layer.weight", "state")),
        Example(STATE, "    train: loss\n", "    train: loss\n    net.state.detach_()\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        found = evidence.edited.seen("layer-is-result")
        return self.found(subject=found[0].subject) if found else None
