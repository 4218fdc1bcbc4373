"""The graph is older than the parameters

## What it finds

Backward goes through an operation that was done before one of its parameters was last updated: a scale that is
computed once from a weight, which is then trained; a loss that goes backward again after a step on what it is made of.
An update by hand may also put a new weight in the place of that one (`w = (w - rate * w.grad).detach()`).

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
AGENTS = """\
agents = [nn.Linear(3, 2) for _ in range(2)]
optimizers = [torch.optim.SGD(agent.parameters(), lr=0.1) for agent in agents]
for _ in range(4):
    acts = torch.cat([agent(torch.randn(5, 3)).tanh() for agent in agents], 1)
    for agent, optimizer in zip(agents, optimizers):
        loss = (acts.sum(1) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
OWN = "loss.backward(retain_graph=True, inputs=list(agent.parameters()))"
FIRST, SECOND = "loss.backward()\n    settle", "optimizer.zero_grad()\n    loss.backward()"
ANEW = "optimizer.zero_grad()\n    loss = net(state).square().mean()\n    loss.backward()"
BOTH = SETTLED.replace("    settle.step()\n    optimizer.zero_grad()\n", "").replace(
    "optimizer.step()", "settle.step()\n    optimizer.step()"
)

BY_HAND = """\
params = {"w": torch.randn(3, 2, requires_grad=True), "b": torch.zeros(2, requires_grad=True)}
size = params["w"].square().sum().sqrt()
for _ in range(6):
    loss = (torch.randn(5, 3) @ params["w"] + params["b"] - 1).square().mean() + 0.1 * size
    loss.backward()
    params = {name: (p - 0.1 * p.grad).detach().requires_grad_() for name, p in params.items()}
"""
SIZE = ("    loss =", '    size = params["w"].square().sum().sqrt()\n    loss =')


class GraphOlderThanUpdate(Seen):
    fact = "stale"
    anyway = True
    sentence = "the graph still uses {subject} as it was before an earlier update"
    raises = (
        Example(SCALED, "loss.backward()", "loss.backward(retain_graph=True)"),
        Example(SETTLED, FIRST, "loss.backward(retain_graph=True)\n    settle"),
        Example(BY_HAND, "loss.backward()", "loss.backward(retain_graph=True)"),
        Example(SETTLED, FIRST, "loss.backward(retain_graph=True, inputs=[state])\n    settle"),
    )
    silent = (
        Example(SCALED, "    loss =", "    scale = (weight + 1).exp()\n    loss ="),
        Example(SCALED, "scale = (weight + 1).exp()", "scale = (weight + 1).exp().detach()"),
        Example(BY_HAND, *SIZE),
        Example(AGENTS, "loss.backward()", OWN),
        Example(SETTLED, SECOND, ANEW),
        Example(BOTH, "loss.backward()\n    loss", "loss.backward(retain_graph=True)\n    loss"),
    )
