"""A gradient is sent on twice from one tensor

## What it finds

A backward call starts from a tensor through which an earlier call went, and that keeps the gradient that this left
there; and one step uses what both sent on. In split learning the server's backward goes on into the clients, and each
client goes backward once more with the gradient that it is given back, be it with noise or a weight. Calls between
which the gradients are zeroed, and those that begin a loss of their own, are no such case.

## Why it matters

torch refuses the second call, and `retain_graph=True` lets it run: all that the tensor is made of gets its gradient
twice. To the part that takes the tensor it is to be a leaf: `h.detach().requires_grad_()`.
"""

from __future__ import annotations

from autofix.verdict.property import Example, Seen

SPLIT = """\
client, server = nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*client.parameters(), *server.parameters()], lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    out = client(torch.randn(5, 3))
    taken = out
    taken.retain_grad()
    loss = (server(taken) - 1).square().mean()
    loss.backward()
    back = taken.grad.clone()
    out.backward(back)
    optimizer.step()
"""
KEPT = ("loss.backward()", "loss.backward(retain_graph=True)")
TWO = (
    SPLIT.replace(
        "optimizer = torch.optim.SGD([*client",
        "own = torch.optim.Adam(client.parameters())\noptimizer = torch.optim.SGD([*client",
    )
    .replace("*client.parameters(), ", "")
    .replace("optimizer.step()", "optimizer.step()\n    own.step()\n    own.zero_grad()")
)
ZEROED = SPLIT.replace("    out.backward(back)", "    client.zero_grad()\n    out.backward(back)")
NOISE = SPLIT.replace("taken.grad.clone()", "taken.grad + 0.1 * torch.randn(5, 4)")
LEAF = ("taken = out", "taken = out.detach().requires_grad_()")
OWN = SPLIT.replace("out.backward(back)", "out.backward(torch.ones(5, 4))")


class GradientSentTwice(Seen):
    name, fact = "gradient-sent-twice", "gradient-sent-twice"
    sentence = (
        "this backward sends on to {subject} from a tensor through which an earlier call has sent what it left there: "
        "that counts twice"
    )
    raises = (Example(SPLIT, *KEPT), Example(TWO, *KEPT), Example(NOISE, *KEPT))
    silent = (Example(ZEROED, *KEPT), Example(OWN, *KEPT), Example(SPLIT, *LEAF))
