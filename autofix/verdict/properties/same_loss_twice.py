"""One loss goes backward twice into the same step

## What it finds

Two backward calls start from the same loss, or one from a sum in which the other is a term. Both leave
gradient in one parameter, and one step uses the sum: a criterion and its trainer both call `backward`; a loss goes
backward by itself, and in a total. Derivatives by `autograd.grad`, calls with disjoint `inputs=`, gradients that are
zeroed in between, calls that are given a weight, and two losses with a part in common are no such case.

## Why it matters

torch refuses the second call, and `retain_graph=True` lets it run: what the loss sends is then counted twice. One of
the two calls is one too many.
"""

from autofix.verdict.property import Example, Seen

CRITERION = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def criterion(out):
    loss = out.square().mean()
    loss.backward()
    return loss


for _ in range(4):
    loss = criterion(net(torch.randn(5, 3)))
    {between}
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
TWICE = CRITERION.replace("{between}", "total = float(loss)")
ZEROED = CRITERION.replace("{between}", "optimizer.zero_grad()")
BY_GRAD = TWICE.replace("    loss.backward()\n    return", "    torch.autograd.grad(loss, net.bias)\n    return")
KEPT = "    loss.backward(retain_graph=True)\n    return"
DISJOINT = TWICE.replace("    loss.backward()\n    return", "    loss.backward(inputs=[net.bias])\n    return").replace(
    "    loss.backward()\n    opt", "    loss.backward(inputs=[net.weight])\n    opt"
)
EACH = TWICE.replace("out.square().mean()", "out.square()").replace("float(loss)", "loss.sum().item()")
EACH = EACH.replace("loss.backward()", "loss.backward(torch.ones_like(loss))")
TOTAL = TWICE.replace(
    "    loss.backward()\n    opt", "    (0.5 * loss + net.weight.square().sum()).backward()\n    opt"
)
SCALED = TOTAL.replace("    loss.backward()\n    return", "    (0.3 * loss).backward()\n    return")
PARTS = (
    TWICE.replace("out.square().mean()", "out.square()")
    .replace("loss.backward()\n    return", "(loss * torch.eye(5)[:, :1]).mean().backward()\n    return")
    .replace("float(loss)\n    loss.backward()", "0.0\n    (loss * (1 - torch.eye(5)[:, :1])).mean().backward()")
)
TWO_LOSSES = TWICE.replace("    loss.backward()\n    opt", "    (loss.sqrt() + net.weight.sum()).backward()\n    opt")


class SameLossTwice(Seen):
    fact = "same-loss-twice"
    anyway = True
    sentence = (
        "two backward calls of one loss left their gradients in {subject} before the step: this loss counts twice"
    )
    raises = (
        Example(TWICE, "    loss.backward()\n    return", KEPT),
        Example(TWICE.replace("SGD", "Adam"), "    loss.backward()\n    return", KEPT),
        Example(TOTAL, "    loss.backward()\n    return", KEPT),
        Example(SCALED, "(0.3 * loss).backward()", "(0.3 * loss).backward(retain_graph=True)"),
        Example(EACH, "(loss))\n    return", "(loss), retain_graph=True)\n    return"),
    )
    silent = (
        Example(ZEROED, "    loss.backward()\n    return", KEPT),
        Example(
            PARTS, "[:, :1]).mean().backward()\n    return", "[:, :1]).mean().backward(retain_graph=True)\n    return"
        ),
        Example(DISJOINT, "inputs=[net.bias]", "inputs=[net.bias], retain_graph=True"),
        Example(BY_GRAD, "loss, net.bias", "loss, net.bias, retain_graph=True"),
        Example(TWO_LOSSES, "    loss.backward()\n    return", KEPT),
    )
