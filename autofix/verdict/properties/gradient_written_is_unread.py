"""The gradient of a result is written, and nothing reads it

## What it finds

The code writes to the gradient of a tensor that is no leaf (`points.grad.mul_(scale)`, `h.grad *= mask`), and no line
of its file reads that gradient. It is None there, and the edit has the result keep one. This is not said of a gradient
that is only cleared, nor of one that is read somewhere, as for a histogram.

## Why it matters

A backward has ended by then, and has sent the gradient on as it was: what an optimizer uses does not change by such a
write. A hook changes it on its way (`points.register_hook(lambda grad: grad * scale)`), or the gradient of the
parameter behind is meant.
"""

from __future__ import annotations

from autofix.syntax.edits import unread_gradient
from autofix.verdict.property import Evidence, Example, Finding, Property

SCALED = """\
table, head = nn.Embedding(9, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for _ in range(5):
    points = table(torch.randint(9, (6,)))
    loss = (head(points) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    WRITTEN
    optimizer.step()
"""
BY_METHOD = SCALED.replace("WRITTEN", "points.grad.mul_(1 - points.detach().square())")
BY_OPERATOR = SCALED.replace("WRITTEN", "points.grad *= 0.5")
BY_PART = SCALED.replace("WRITTEN", "points.grad[:3] = 0")
READ = SCALED.replace("WRITTEN", "points.grad.clamp_(-1, 1)\n    print(points.grad.norm().item())")
FIRST = SCALED.replace("WRITTEN", "size = points.grad.norm()\n    points.grad.mul_(0.5)\n    print(size.item())")
CLEARED = SCALED.replace("WRITTEN", "points.grad.zero_()")
SHOWN = SCALED.replace("WRITTEN", "print(points.grad.abs().mean().item())")
KEPT = ("    loss =", "    points.retain_grad()\n    loss =")


class GradientWrittenIsUnread(Property):
    sentence = (
        "the gradient of `{name}`, which is no leaf, is written here, and nothing reads it: no optimizer uses what is "
        "written. A hook (`{name}.register_hook`) changes the gradient before it is sent on"
    )
    raises = (Example(BY_METHOD, *KEPT), Example(BY_OPERATOR, *KEPT), Example(BY_PART, *KEPT))
    silent = (Example(READ, *KEPT), Example(FIRST, *KEPT), Example(CLEARED, *KEPT), Example(SHOWN, *KEPT))

    def find(self, evidence: Evidence) -> Finding | None:
        place = evidence.failure.stack[:1]
        names = [one.name for one in evidence.trace.origins if one.kind == "nonleaf"]
        for _, source, node in evidence.sources.nodes(place if names and evidence.looks_at_gradient else ()):
            if unread_gradient(source, source.statement(node)):
                return self.found(place, name=names[0])
        return None
