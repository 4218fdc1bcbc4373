"""What is compared is always the same

## What it finds

The edit computes anew, after an update, what was made before it, and the code subtracts or divides the two: a loss
before a step and after it, the values of a critic before an epoch and in it. Or several passes hold their parameters
against what these were, and the edit keeps that under another name of the same memory, so that each step moves both
(`start = [p.detach() for p in net.parameters()]`). In every pass of the edited run both sides are equal in all numbers;
in the code they are not. Two sides that are equal in the code, too, are no such case, nor is what an edit adds within a
comparison so that a gradient is passed on: `(out - out.detach()) / 2`.

## Why it matters

What was to be measured is then 0 in every pass, or 1, and a clip around it never binds. With every step undone nothing
shows: there the two are equal in any case. The old value was meant: cut it where it is made.
"""

from __future__ import annotations

from collections import Counter

from autofix.verdict.property import Evidence, Example, Finding, Property

_TWICE = 2
PROGRESS = """\
model, judge = nn.Linear(4, 1), nn.Linear(4, 1)
optimizer, other = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (model, judge))
for _ in range(4):
    x = torch.randn(6, 4)
    before = (model(x) - 1).square()
    train: before.mean()
    loss = (judge(x) - LEFT).square().mean()
    train[other]: loss
"""
ANCHORED = """\
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    start = [p * 1 for p in net.parameters()]
    for _ in range(3):
        loss = net(torch.randn(8, 4)).square().mean()
        loss = loss + sum((p - s).square().sum() for p, s in zip(net.parameters(), start))
        train: loss
"""
AMONG = """\
nets = [nn.Linear(4, 1), nn.Linear(4, 1)]
optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
for _ in range(4):
    x = torch.randn(6, 4)
    outs = [net(x) for net in nets]
    mean = sum(outs) / 2
    for out, optimizer in zip(outs, optimizers):
        loss = (out - 1).square().mean() - (out - mean).square().mean() / 4
        train: loss
"""
ITS_PART = "out - mean", "out - (mean.detach() + (out - out.detach()) / 2)"
MEASURED = """\
net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    x = torch.randn(8, 4)
    before = net(x)
    for _ in range(3):
        out = net(x)
        loss = out.square().mean() - (out - before).square().mean().clamp(max=0.1)
        train: loss
"""
SINCE = "(before - (model(x) - 1).square())"
ANEW = ("    loss = (judge", "    before = (model(x) - 1).square()\n    loss = (judge")


class ComparesNewWithNew(Property):
    sentence = "with the edit, the two sides compared here are equal in every iteration; in the code they are not"
    last = True
    raises = (
        Example(PROGRESS.replace("LEFT", SINCE), *ANEW),
        Example(MEASURED, "out = net(x)", "out, before = net(x), net(x)"),
    )
    silent = (
        Example(PROGRESS.replace("LEFT", "(before - 2 * (model(x) - 1).square())"), *ANEW),
        Example(ANCHORED, "p * 1", "p.detach().clone()"),
        Example(AMONG, *ITS_PART),
        Example(
            PROGRESS.replace("LEFT", SINCE),
            "    optimizer.step()\n",
            "    optimizer.step()\n    before = before.detach()\n",
        ),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not (evidence.assessment.refreshes or evidence.letter.reused):
            return None
        edited = evidence.edited_compared
        same = [one for one in edited.compared if one.same >= _TWICE and not one.other]
        letter = evidence.comparisons_moving if same else edited  # the dearer one only where there is something to ask
        known, here = ({one.site for one in run.compared} for run in (letter, edited))
        was, now = (Counter(one.site for one in run.compared if one.other >= _TWICE) for run in (letter, edited))
        gone = sum(count for site, count in was.items() if site not in here)
        # The code's two sides differ at this place, or, where the edit wrote it, at one that the edit has not.
        found = (one for one in same if (was[one.site] if one.site in known else gone) > now[one.site])
        return next((self.found(one.stack) for one in found), None)
