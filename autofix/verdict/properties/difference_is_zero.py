"""A tensor is subtracted from itself, and the difference is always zero

## What it finds

The code subtracts a tensor from itself: two names hold one memory, and the memory was written after the first name was
bound (`before = self.memory`, then `self.memory[i] = …`; `before = h`, then `h.add_(change)`). The edit keeps that.
So does a penalty towards old weights that were not copied (`anchor = {n: p.detach() for n, p in …}`): each step moves
both. This is not said of an update by hand, which no loss is made of, of a straight-through estimator
(`x - x.detach()`), which trains through one of the two and names it once, nor of a copy, which has a memory of its own,
as an edit may give it to the name of a leaf.

## Why it matters

A term that should measure how far something has moved is then always 0. The code literally says so, but nobody means
it. To keep the old value takes a copy (`.clone()`); `.detach()` alone only makes a second name.
"""

from autofix.verdict.property import Evidence, Example, Finding, OfTheCode
from autofix.verdict.shared import other_names

MEMORY = """\
net = nn.Linear(3, 3)
gain = nn.Parameter(torch.tensor(0.5))
memory = torch.randn(4, 3)
optimizer = torch.optim.SGD([*net.parameters(), gain], lr=0.1)
for _ in range(4):
    z = net(torch.randn(5, 3))
    before, kept = memory, memory.clone()
    fit = (z @ before.t()).square().mean()
    memory[0] = 0.5 * memory[0] + 0.5 * z.detach().mean(0)
    moved = {moved}
    loss = fit + (moved * gain.sigmoid()).sum()
    train: loss
"""
ANCHOR = """\
net = nn.Linear(3, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
anchor = {n: KEPT for n, p in net.named_parameters()}
for _ in range(4):
    y = torch.sigmoid(net(torch.randn(5, 3)))
    y *= 2
    loss = (y - 1.2).square().mean() + sum((p - anchor[n]).square().sum() for n, p in net.named_parameters())
    train: loss
"""
STATE = """\
cell, start = nn.Linear(3, 3), nn.Linear(3, 3)
optimizer = torch.optim.SGD([*cell.parameters(), *start.parameters()], lr=0.1)
for _ in range(4):
    h = start(torch.randn(5, 3))
    before = KEPT
    h.add_(torch.tanh(cell(h)))
    loss = h.square().mean() + (h - before).square().mean()
    train: loss
"""
AVERAGE = ANCHOR.replace("KEPT", "p.data.clone()").replace(
    " + sum((p - anchor[n]).square().sum() for n, p in net.named_parameters())", ""
) + (
    "    for n, p in net.named_parameters():\n"
    "        anchor[n] -= 0.1 * (anchor[n] - p.data)\n"
    "        p.data = anchor[n]\n"
)
SAMPLED = """\
net, book = nn.Linear(3, 4), nn.Linear(4, 2)
optimizer = torch.optim.SGD([*net.parameters(), *book.parameters()], lr=0.1)
for _ in range(4):
    soft = net(torch.randn(5, 3)).softmax(1)
    index = soft.argmax(1, keepdim=True)
    hard = WRITTEN.zero_().scatter_(1, index, 1.0)
    loss = (book(hard - soft.detach() + soft) - 1).square().mean() + soft.square().mean()
    train: loss
"""
STRAIGHT = SAMPLED.replace("hard = WRITTEN", "soft.mul_(2)\n    hard = torch.zeros_like(soft)")
STRAIGHT = STRAIGHT.replace("hard - soft.detach() + soft", "hard + (soft - soft.detach())")
OUT = ("y *= 2", "y = y * 2")
COPIED = ("before.t()", "before.t().clone()")


class DifferenceIsZero(OfTheCode):
    fact = "zero-difference"
    sentence = (
        "a tensor is subtracted from itself here, because both names share one memory: the difference is always 0"
    )
    raises = (
        Example(MEMORY.replace("{moved}", "(memory - before).square()"), *COPIED),
        Example(MEMORY.replace("{moved}", "nn.functional.l1_loss(before.detach(), memory)"), *COPIED),
        Example(STATE.replace("KEPT", "h"), "cell(h)", "cell(h.clone())"),
        Example(SAMPLED.replace("WRITTEN", "soft"), "    index =", "    soft = soft.clone()\n    index ="),
        Example(ANCHOR.replace("KEPT", "p.detach()"), *OUT),
        Example(ANCHOR.replace("KEPT", "p.data"), *OUT),
    )
    silent = (
        Example(MEMORY.replace("{moved}", "(memory - kept).square()"), *COPIED),
        Example(MEMORY.replace("{moved}", "(z - z.detach()) + z.square()"), *COPIED),
        Example(STRAIGHT, "soft.mul_(2)", "soft = soft.mul(2)"),
        Example(SAMPLED.replace("WRITTEN", "soft"), "soft.zero_()", "torch.zeros_like(soft)"),
        Example(STATE.replace("KEPT", "h.clone()"), "cell(h)", "cell(h.clone())"),
        Example(ANCHOR.replace("KEPT", "p.detach().clone()"), *OUT),
        Example(AVERAGE, *OUT),
        Example(ANCHOR.replace("KEPT", "p").replace("p - anchor[n]", "p.detach() + (p - p.detach())"), *OUT),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        found = super().find(evidence)
        return None if found is not None and other_names.is_kept_by(evidence) else found
