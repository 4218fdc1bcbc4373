"""A leaf that asks for its gradient loses its name to a result, whose gradient is read

## What it finds

The code makes a variable ask for its gradient (`x.requires_grad_()`, `x = Variable(x, requires_grad=True)`), gives its
name to a result of it (`x = normalize(x)`), and reads `x.grad` by that name. That is the gradient of the result, and is
None; the edit has the result keep it. This is not said where the result is the same values (`x.to(device)`), or has a
name of its own, nor of a leaf that is made of random numbers or zeros: a start may be scaled.

## Why it matters

Who makes a leaf for its gradient mostly means that one: an attack on what is normalised then, representations whose
gradient is kept. Give the result a name of its own, and both can be read.
"""

from __future__ import annotations

from autofix.syntax.edits import takes_name_of_leaf
from autofix.verdict.property import Evidence, Example, Finding, Property

ATTACK = """\
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def moved(x):
    x.requires_grad_()
    x = (x - 0.5) / torch.arange(1, 5)
    net(x).square().mean().backward()
    return (x + 0.1 * x.grad.sign()).detach()
for _ in range(5):
    x = torch.rand(6, 4)
    seen = moved(x.clone())
    loss = (net(seen) - 1).square().mean()
    train: loss
"""
RESULT = "x = (x - 0.5) / torch.arange(1, 5)"
KEPT = (RESULT, f"{RESULT}\n    x.retain_grad()")
HANDED_ON = ATTACK.replace("    return (x + 0.1 * x.grad.sign()).detach()\n", "    return x, x.grad\n").replace(
    "moved(x.clone())", "(lambda x, slope: x.detach() + 0.1 * slope.sign())(*moved(x.clone()))"
)
CAST = ATTACK.replace(RESULT, "x = x.double().float()")
OWN = ATTACK.replace(RESULT, "z = (x - 0.5) / torch.arange(1, 5)").replace("net(x).sq", "net(z).sq")
OWN = OWN.replace("(x + 0.1 * x.grad", "(z + 0.1 * z.grad")
MADE = ATTACK.replace("x.requires_grad_()", "x = {}")
GIVEN = "torch.autograd.Variable(x, requires_grad=True)"
LEAF = (RESULT, "x = ((x - 0.5) / torch.arange(1, 5)).detach().requires_grad_()")


class LeafLosesItsName(Property):
    sentence = (
        "`{name}` asked for its gradient before this line assigned a result to the same name. The gradient of the "
        "first tensor may be meant"
    )
    raises = (Example(ATTACK, *KEPT), Example(HANDED_ON, *KEPT), Example(MADE.format(GIVEN), *LEAF))
    silent = (
        Example(CAST, "x.double().float()", "x.double().float()\n    x.retain_grad()"),
        Example(OWN, "torch.arange(1, 5)\n", "torch.arange(1, 5)\n    z.retain_grad()\n"),
        Example(MADE.format("torch.rand(6, 4, requires_grad=True)"), *LEAF),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        for origin in evidence.trace.origins if evidence.looks_at_gradient else ():
            for _, source, node in evidence.sources.nodes(origin.stack[:1] if origin.kind == "nonleaf" else ()):
                if takes_name_of_leaf(source, source.statement(node), origin.name):
                    return self.found(origin.stack[:1], name=origin.name)
        return None
