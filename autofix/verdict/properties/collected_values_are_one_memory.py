"""Values that were collected are views of one memory

## What it finds

The code collects several values and joins them with `torch.stack` or `torch.cat`, or puts them on one list. All of them
are views of the same part of one memory, and that memory was written between them. Examples are

- a solver that adds to its field in place and appends the field, or a slice of it, every few steps;
- a replay buffer that holds one tensor many times, because the environment writes its state in place;
- a pose that is moved in place, and appended to a list of poses that each have a loss;
- a list with an array of each pass, all of which show one parameter: `path.append(w.detach().numpy())`.

The edit keeps that. This is not said of copies, of parts that lie apart, of one part that is used twice with the same
values, as in padding, of an array that is no longer used once the next pass replaces it, nor where the program trains
and prints the same if each write goes to a copy, or makes a new tensor: then the last value alone is used. Nor is it
said of an edit that copies: at the end of the script it prints what the code prints where each array of a parameter
keeps its values, and the code prints otherwise.

## Why it matters

All the views show the values that were written last. The code says so to the letter, but nobody means it. Each view
should be a copy (`.clone()`), or each step should make a new tensor.
"""

from __future__ import annotations

from dataclasses import replace

from autofix.experiments.compare import comparable, differences
from autofix.experiments.sketches import LIVE
from autofix.verdict.property import Evidence, Example, Finding, OfTheCode, Reading

SOLVER = """\
rate = torch.tensor(0.5, requires_grad=True)
optimizer = torch.optim.SGD([rate], lr=0.01)
for _ in range(4):
    field, seen = torch.linspace(0, 1, 6), []
    for _ in range(3):
        change = field.square()
        field[1:-1] += 0.1 * rate * change[1:-1]
        seen.append(SEEN)
    loss = torch.stack(seen).mean()
    train: loss
"""
PATH = """\
w, path = torch.zeros(3, requires_grad=True), []
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(5):
    loss = (torch.randn(4, 3) @ w - 1).square().mean()
    train: loss
    KEPT
"""
WAY = PATH.replace("KEPT", "path.append(w.numpy())").replace("(5)", "(60)")
WAY += "print(sum(float(abs(one).sum()) for one in path))\n"
TAKEN = "w.numpy()"
REPLAY = """\
policy, value = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(value.parameters(), lr=0.1)
state, seen = torch.zeros(2), []
for _ in range(6):
    state += 0.1 * policy(state)
    seen.append(KEPT)
    loss = (value(torch.stack(seen)) - 1).square().mean()
    train: loss
"""
POSES = """\
net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    pose, poses = torch.zeros(2, 3), []
    for _ in range(2):
        pose[0] = net(torch.randn(3))
        pose[1] = pose[1] * pose[0] + 1
        KEPT
    loss = sum((one - 1).square().mean() for one in poses)
    train: loss
"""
APART = ("pose[1] * pose[0]", "pose[1].clone() * pose[0].clone()")
DATA = ("0.1 * policy(state)", "0.1 * policy(state).detach()")
COPIED = ("field.square()", "field.clone().square()")


ELSEWHERE = """\
policy, value = nn.Linear(2, 2), nn.Linear(2, 1)
optimizer = torch.optim.SGD([*policy.parameters(), *value.parameters()], lr=0.1)
state, seen = torch.zeros(2), []
for _ in range(5):
    y = policy(torch.randn(2)).exp()
    y += 1
    state += 0.1 * y.detach()
    seen.append(state)
    loss = (value(torch.stack(seen)) - 1).square().mean() + y.mean()
    train: loss
"""


class CollectedValuesAreOneMemory(OfTheCode):
    fact = "one-memory-joined"
    sentence = (
        "all {subject} values collected here are views of one memory that was written in between: all of them show "
        "the last value"
    )
    raises = (
        Example(ELSEWHERE, "y += 1", "y = y + 1"),
        Example(SOLVER.replace("SEEN", "field[1:-1]"), *COPIED),
        Example(SOLVER.replace("SEEN", "field"), *COPIED),
        Example(REPLAY.replace("KEPT", "state"), *DATA),
        Example(POSES.replace("KEPT", "poses.append(pose)"), *APART),
        Example(PATH.replace("KEPT", "path.append(w.numpy())"), "w.numpy()", "w.detach().numpy()"),
        Example(WAY, TAKEN, "w.detach().numpy()"),
        Example(WAY, TAKEN, "w.detach()"),
        Example(WAY, TAKEN, "w.grad.numpy().copy()"),
    )
    silent = (
        Example(SOLVER.replace("SEEN", "field[1:-1].clone()"), *COPIED),
        Example(SOLVER.replace("SEEN", "torch.cat([field[:1], field[:1], field])"), *COPIED),
        Example(SOLVER.replace("SEEN", "torch.cat([field, field])"), *COPIED),
        Example(WAY, TAKEN, "w.detach().numpy().copy()"),
        Example(WAY, TAKEN, "w.detach().clone().numpy()"),
        Example(WAY, TAKEN, '__import__("numpy").array(w.tolist())'),
        Example(REPLAY.replace("KEPT", "state.clone()"), *DATA),
        Example(POSES.replace("KEPT", "poses.append(pose.clone())"), *APART),
        Example(POSES.replace("KEPT", "poses = [pose, pose]"), *APART),
        Example(POSES.replace("KEPT", "poses.append(pose)").replace("in poses)", "in poses[-1:])"), *APART),
        Example(PATH.replace("KEPT", "last = w.numpy(); print(last.sum())"), "w.numpy()", "w.detach().numpy()"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if (found := self.first(evidence.followed)) is None:
            return None
        known, code = evidence.case.pool.written, evidence.code
        kept = {"copied": replace(code, copied=True), "old_values": replace(code, old_values=True)}
        alike = (known[name] and self._trains_alike(evidence, one) for name, one in kept.items())
        return None if any(alike) or self._are_copies(evidence) else found

    def _trains_alike(self, evidence: Evidence, kept: Reading) -> bool:
        """Whether the program trains and prints the same where what was collected keeps its value."""
        other = evidence.of(kept)
        same = not comparable(other) and not differences(evidence.letter, other, LIVE, printed=True)
        return same and self.first(other) is None

    def _are_copies(self, evidence: Evidence) -> bool:
        """Whether arrays are what is collected, and the edit shows in the end what copies of them would show alone."""
        kept = evidence.keeping(evidence.reading)
        return self.first(kept) is None and evidence.shows_copies(evidence.reading)
