"""A write becomes a name that nothing reads, or one to a copy

## What it finds

The edit gives a name a new value where a tensor was written in place, and nothing reads that name: `p = s.clone()` for
`p.copy_(s)` in a loop over parameters, or `p = p.clone()` before the write. Or it drops what it makes in place of the
write: `p.clone().copy_(s)`, or `p.clamp(0)` for `p.clamp_(0)`. This is read from the text: a name is needed where
something reads it, also in the next pass of a loop, in a function inside, or by another module.

Or the code writes a parameter in place, with the values that it has, and the edit nowhere: `pruned = w.clone()`, and
the small weights of that are set to zero, of which these passes have none. What may be a write through `.data` counts.

## Why it matters

The write is lost: the parameters keep their values, at once or in a pass in which it would have changed them.
"""

from __future__ import annotations

from autofix.probe import wire
from autofix.syntax.lost import lost_write
from autofix.verdict.property import Evidence, Example, Finding, Property, course_name

SWAPPED = """\
net = nn.Linear(3, 1)
best = [torch.zeros_like(p) for p in net.parameters()]
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    for p, b in zip(net.parameters(), best):
        p.copy_(b)
    loss = (net(torch.randn(5, 3)) - 1).square().mean()
    train: loss
"""
SUMMED = """\
first, last = nn.Linear(3, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3).requires_grad_().sigmoid()
    h = x
    part = first(x)
    h += part
    loss = (last(h) - 1).square().mean()
    train: loss
"""
ADDED = "    h += part\n"
BOUNDED = """\
w = torch.randn(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(4):
    loss = (w * torch.randn(3)).sum().square()
    train: loss
    w.clamp_(-9, 9)
"""
CLAMP = "w.clamp_(-9, 9)"
SHOWN = f"{BOUNDED}    print(w.norm().item())\n"
COPIED = "    w.clamp_(-9, 9)\n    print(w.", "    copy = w.clone()\n    copy.clamp_(-9, 9)\n    print(copy."
SHAPED = """\
start, head = nn.Parameter(torch.randn(2, 1, 3)), nn.Linear(3, 1)
optimizer = torch.optim.SGD([start, *head.parameters()], lr=0.1)
for _ in range(4):
    first, second = start.unbind(0)
    first.squeeze_(0)
    loss = (head(first) + head(second) - 1).square().sum()
    train: loss
"""
OTHER_SHAPE = "first.squeeze_(0)", "first = first.squeeze(0)"
BOUND = "    with torch.no_grad():\n        start.clamp_(-9, 9)\n"
TAKEN = SHAPED[SHAPED.index("    first,") : SHAPED.index("    loss")]
KEPT_SMALL = SHAPED.replace(TAKEN, f"{BOUND}{TAKEN}")
UNREAD = "nothing reads the new value"
UNSEEN = "it changes nothing in these runs, and the edit no longer makes it"


class WriteIsLost(Property):
    anyway = True
    sentence = "the write to {subject} is lost: {why}"
    raises = (
        Example(SWAPPED, "p.copy_(b)", "p = b.clone()"),
        Example(BOUNDED, CLAMP, "w.detach().clone().clamp_(-9, 9)"),
        Example(BOUNDED, CLAMP, "w.detach().clamp(-9, 9)"),
        Example(SHOWN, *COPIED),
        Example(KEPT_SMALL, f"{BOUND}{TAKEN}", "    first, second = start.clamp(-9, 9).squeeze(1).unbind(0)\n"),
    )
    silent = (
        Example(SWAPPED, "p.copy_(b)", "p.data.copy_(b)"),
        Example(BOUNDED, CLAMP, "w.detach().clamp_(-9, 9)"),
        Example(BOUNDED, CLAMP, "w.data = w.detach().clamp(-9, 9)"),
        Example(SHOWN, CLAMP, "w.data.clamp_(-9, 9)"),
        Example(SHOWN.replace("(-9, 9)", "(-9, 0.2)"), "w.clamp_", "w.detach().clamp_"),
        Example(SUMMED, ADDED, "    x = x + part\n    h = x\n"),
        Example(SHAPED, *OTHER_SHAPE),
        Example(KEPT_SMALL, *OTHER_SHAPE),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        for path, data in evidence.files.items():
            name, line = lost_write(path, evidence.case.pool.target.read(path), data)
            if name:
                return self.found((wire.Frame.of_line(str(path), line),), subject=name, why=UNREAD)
        edited = {one.name for one in evidence.edited.courses if not (one.is_written or one.hidden)}
        unseen = (one for one in evidence.followed.courses if one.idle and one.name in edited)
        return next((self.found(subject=course_name(evidence.edited, one.name), why=UNSEEN) for one in unseen), None)
