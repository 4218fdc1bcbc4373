"""A term of a loss trains nothing

## What it finds

torch refused to turn a tensor into an array or a number, and the value comes back as a term of a loss: a small change
of it changes the loss, but no gradient. Or a run with such a change ends early, so that nobody knows. Where the value
can be followed through numpy to the loss, its gradient is what the code means, and an edit without it is compared with
that.

Or a term of a loss is made of earlier passes alone, and the edit cuts it from them: a prediction that is held against
what came a pass later. A term that was trained on before, as those of a running average, is no such case.

## Why it matters

A score that is computed with numpy trains nothing, nor does a prediction that is cut off. An array that is an input, a
target or a weight is a constant, as everybody knows; but then a small change of it changes some gradient.
"""

from __future__ import annotations

from autofix.experiments.compare import comparable, same_gradients
from autofix.experiments.losses import differ
from autofix.verdict.property import Evidence, Example, Finding, Property

SCORED = """\
import numpy as np

net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(4):
    out = net(x)
    array, filled = net(x + 1).numpy(), np.zeros((20, 1), np.float32)
    filled[:] = array
    loss = torch.from_numpy((filled - y.numpy()) ** 2).mean() + out.square().mean()
    train: loss
"""
LOSS = "torch.from_numpy((filled - y.numpy()) ** 2).mean() + out.square().mean()"
AS_TARGET = SCORED.replace(LOSS, "nn.functional.mse_loss(out, torch.from_numpy(array) + y)")
AS_WEIGHT = SCORED.replace(LOSS, "(torch.from_numpy(array) * out).mean()")
CHECKED = SCORED.replace("filled[:]", "assert np.isin(np.sum(array, dtype=float), seen)\n    filled[:]")
CHECKED = CHECKED.replace("    out =", "    seen = np.sum(net(x + 1).detach().numpy(), dtype=float)\n    out =")
DRAWN = SCORED.replace(LOSS, "(out.abs() * float(np.random.choice(20, p=shares))).mean()")
DRAWN = DRAWN.replace("(x + 1).numpy()", "(x + 1).softmax(0).numpy()").replace(
    "filled[:] = array", "shares = array[:, 0]"
)
DENSITY = """\
import numpy as np

net = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    mean, spread, weight = net(torch.randn(12, 3)).chunk(3, 1)
    variance = spread.exp()
    density = torch.from_numpy(0.5 * np.log(variance.numpy())) + (1 - mean) ** 2 / (2 * variance)
    loss = density.mean() + (weight.sigmoid() * density).mean()
    train: loss
"""
CUT = ("variance.numpy()", "variance.detach().numpy()")
LATE = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 3)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
seen, expected = torch.randn(5, 3), torch.zeros(5, 3)
for _ in range(6):
    guess = head(cell(seen))
    loss = (expected - TRUTH).square().mean() + 0.1 * guess.abs().mean()
    train: loss
    expected, seen = guess, 0.9 * seen + 0.3 * torch.randn(5, 3)
"""
KEPT = """\
net, kept = nn.Linear(3, 2), []
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    kept.append(net(torch.randn(5, 3)))
    loss = (kept[-1] - 1).abs().mean() + sum(one.square().mean() for one in kept)
    train: loss
"""
HANDED_ON = ("expected, seen = guess,", "expected, seen = guess.detach(),")
WEIGHED = DENSITY.replace(" + (1 - mean) ** 2 / (2 * variance)", " * (1 - mean) ** 2")
CENTRED = SCORED.replace(LOSS, "(out * torch.from_numpy((filled - filled.mean()) / filled.std())).mean()")
EDIT = ("net(x + 1).numpy()", "net(x + 1).detach().numpy()")


class LossTermIsConstant(Property):
    anyway = True
    sentence = "the value that leaves the graph here comes back as a term of a loss, and no gradient depends on it"
    late = "a term of this loss is computed from earlier iterations alone, and with the edit no gradient depends on it"
    unseen = "the value that leaves the graph here may enter a loss: a run in which it is a little larger ends early"
    raises = (Example(SCORED, *EDIT), Example(CHECKED, *EDIT), Example(LATE.replace("TRUTH", "seen"), *HANDED_ON))
    silent = (
        Example(AS_TARGET, *EDIT),
        Example(AS_WEIGHT, *EDIT),
        Example(CENTRED, *EDIT),
        Example(DRAWN, ".softmax(0).numpy()", ".softmax(0).detach().numpy()"),
        Example(WEIGHED, *CUT),
        Example(LATE.replace("TRUTH", "guess"), *HANDED_ON),
        Example(KEPT, "    optimizer.step()", "    optimizer.step()\n    kept = [one.detach() for one in kept]"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if evidence.assessment.effect.truncates:
            late = evidence.letter.seen("term-is-late")
            return Finding(self.name, self.late, late[0].stack) if late else None
        if not evidence.converts:
            return None
        letter, nudged = evidence.letter, evidence.nudged
        if evidence.reading.sampled and evidence.sample_moved is not None:
            letter, nudged = evidence.followed, evidence.sample_moved
        if not differ(nudged, letter):
            return None
        if comparable(nudged):
            return Finding(self.name, self.unseen, evidence.failure.stack)
        return self.found(evidence.failure.stack) if same_gradients(letter, nudged) else None
