"""The gradient that a result keeps adds up

## What it finds

The code reads the gradient of a result, `part.grad`, after each of several backward calls that reach it, and nothing
clears it between them. The edit asks the result to keep its gradient. This is not said of a result that is made anew
for each call, or of one whose gradient is cleared.

## Why it matters

What is read is then the sum over all calls so far. If the result were made anew, it would be the gradient of the last
call alone. The code does not say which is meant: read the gradient of the leaf behind it, or make the result in each
pass.
"""

from autofix.verdict.property import Example, OfTheCode

NOISE = """\
net = nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
noise = torch.zeros(6, 3, requires_grad=True)
for _ in range(3):
    x = torch.randn(4, 3)
    part = noise[:4]
    for _ in range(3):
        MADE
        loss = net(x + part).square().mean()
        optimizer.zero_grad()
        loss.backward()
        moved = 0.1 * part.grad.sign()
        CLEARED
        noise.data[:4] += moved
        noise.grad.zero_()
        optimizer.step()
"""
ONCE = ("    part = noise[:4]\n    for", "    part = noise[:4]\n    part.retain_grad()\n    for")
EACH = ("        part = noise[:4]\n        loss", "        part = noise[:4]\n        part.retain_grad()\n        loss")


class GradientAddsUp(OfTheCode):
    fact = "gradient-adds-up"
    sentence = "the gradient read here is the sum over several backward calls: nothing clears it in between"
    raises = (
        Example(NOISE.replace("        MADE\n", "").replace("        CLEARED\n", ""), *ONCE),
        Example(NOISE.replace("        MADE\n", "").replace("CLEARED", "part.grad *= 0.5"), *ONCE),
    )
    silent = (
        Example(NOISE.replace("MADE", "part = noise[:4]").replace("        CLEARED\n", ""), *EACH),
        Example(NOISE.replace("        MADE\n", "").replace("CLEARED", "part.grad.zero_()"), *ONCE),
        Example(NOISE.replace("        MADE\n", "").replace("CLEARED", "part.grad = None"), *ONCE),
    )
