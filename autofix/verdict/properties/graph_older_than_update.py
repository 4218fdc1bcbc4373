"""The graph is older than the parameters

## What it finds

Backward goes through an operation that was done before one of its parameters was last updated: a scale that is
computed once from a weight, which is then trained; a loss that goes backward again after a step on what it is made of.

## Why it matters

The gradient is that of an old point. It runs, and the training goes astray. Compute the value again in each pass, or
detach it where it is meant as a constant.
"""

from autofix.verdict.property import Example, Seen

SCALED = """\
weight, gain = nn.Parameter(torch.randn(3)), nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([weight, gain], lr=0.1)
scale = (weight + 1).exp()
for _ in range(5):
    loss = (gain * scale * torch.randn(3)).sum()
    train: loss
"""
SETTLED = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    state = torch.randn(5, 3, requires_grad=True)
    settle = torch.optim.SGD([state], lr=0.1)
    x = state * 1
    loss = net(x).square().mean() + (x - 1).square().mean()
    settle.zero_grad()
    loss.backward()
    settle.step()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FIRST, SECOND = "loss.backward()\n    settle", "optimizer.zero_grad()\n    loss.backward()"
ANEW = "optimizer.zero_grad()\n    loss = net(state).square().mean()\n    loss.backward()"
BOTH = SETTLED.replace("    settle.step()\n    optimizer.zero_grad()\n", "").replace(
    "optimizer.step()", "settle.step()\n    optimizer.step()"
)


class GraphOlderThanUpdate(Seen):
    name, former, fact = "graph-older-than-update", "stale", "stale"
    anyway = True
    sentence = "the graph still uses {subject} as it was before an earlier update"
    raises = (
        Example(SCALED, "loss.backward()", "loss.backward(retain_graph=True)"),
        Example(SETTLED, FIRST, "loss.backward(retain_graph=True)\n    settle"),
    )
    silent = (
        Example(SCALED, "    loss =", "    scale = (weight + 1).exp()\n    loss ="),
        Example(SCALED, "scale = (weight + 1).exp()", "scale = (weight + 1).exp().detach()"),
        Example(SETTLED, SECOND, ANEW),
        Example(BOTH, "loss.backward()\n    loss", "loss.backward(retain_graph=True)\n    loss"),
    )
