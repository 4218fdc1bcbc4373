"""A gradient is sent on twice from one tensor

## What it finds

A first backward goes through a tensor, which keeps its gradient (`retain_grad`). A second backward starts from that
tensor and is given this gradient. What the tensor is made of gets both, and one step uses their sum. An example is
split learning: the server's backward goes on into the clients, and each client then goes backward with the gradient
that it got back. The gradient may have been scaled, or noise may have been added. This is not said where the gradients
are zeroed between the two calls, nor where the second call starts from a gradient of its own.

## Why it matters

torch refuses the second call. `retain_graph=True` lets it run, and the gradient then counts twice. The second part
should take a leaf, at which the first backward ends: `h.detach().requires_grad_()`.
"""

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
    fact = "gradient-sent-twice"
    anyway = True
    sentence = (
        "this backward starts from a tensor with the gradient that an earlier backward left there and has already "
        "sent on: {subject} gets it twice"
    )
    raises = (Example(SPLIT, *KEPT), Example(TWO, *KEPT), Example(NOISE, *KEPT))
    silent = (Example(ZEROED, *KEPT), Example(OWN, *KEPT), Example(SPLIT, *LEAF))
