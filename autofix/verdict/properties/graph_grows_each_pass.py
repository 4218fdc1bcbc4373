"""The graph grows from pass to pass

## What it finds

The same backward call reaches ever more operations of earlier passes: a state is carried over, and its graph is kept.
Or the edit cuts the state where it is used, no backward reaches that graph, and it grows all the same, since the state
is made of the one before. Or parameters are moved towards others with their graph: nothing goes backward to them, and
each pass makes it longer. This is not said of an inner loop that is differentiated itself and ends with the step that
uses it.

## Why it matters

Memory and time have no bound. Cut the state where it is stored.
"""

from __future__ import annotations

from autofix.probe import wire
from autofix.verdict.property import Evidence, Example, Finding, Seen

CARRIED = """\
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
hidden = torch.zeros(5, 4)
for _ in range(8):
    hidden = cell(torch.randn(5, 3), hidden)
    loss = head(hidden).square().mean()
    train: loss
"""
AVERAGED = """\
encoder, head = nn.Linear(4, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.05)
mean = torch.zeros(3)
for _ in range(8):
    z = torch.tanh(encoder(torch.randn(8, 4)))
    mean = 0.9 * mean + 0.1 * z.mean(0)
    loss = (head(z - mean) - 1).square().mean()
    train: loss
"""
AVERAGE = """\
student, teacher = nn.Linear(3, 4), nn.Linear(3, 4)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
for _ in range(8):
    x = torch.randn(5, 3)
    with torch.no_grad():
        aim = teacher(x)
    loss = (student(x) - aim).square().mean()
    train: loss
    for mine, other in zip(teacher.parameters(), student.parameters()):
        mine.mul_(0.9).add_(other, alpha=0.1)
"""
OF_EPOCHS = """\
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data, kept = torch.randn(8, 4), torch.zeros(8, 3)
for _ in range(8):
    made = torch.zeros(8, 3)
    for rows in torch.arange(8).split(4):
        out = net(data[rows])
        loss = (out - kept[rows]).square().mean() + (out - 1).square().mean()
        made[rows] = out
        train: loss
    kept = 0.6 * kept + 0.4 * made
"""
OF_THE_LAST = OF_EPOCHS.replace("kept = 0.6 * kept + 0.4 * made", "kept = made").replace("(8):", "(16):")
UNROLLED = """\
weights = torch.zeros(6, requires_grad=True)
optimizer = torch.optim.SGD([weights], lr=0.1)
x, y = torch.randn(6, 3), torch.randn(6)
for _ in range(4):
    w = torch.zeros(3, requires_grad=True)
    for _ in range(12):
        loss = (weights.sigmoid() * (x @ w - y).square()).mean()
        slope, = torch.autograd.grad(loss, w, create_graph=True)
        with torch.no_grad():
            w -= 0.1 * slope
    loss = (x @ w - y).square().mean()
    weights.grad, = torch.autograd.grad(loss, weights)
    optimizer.step()
"""
RECORDED = ("        with torch.no_grad():\n            w -= 0.1 * slope", "        w = w - 0.1 * slope")
NETS = "student, teacher = nn.Linear(3, 4), nn.Linear(3, 4)"
_GROWS = {
    "growth": "this backward reaches",
    "kept-growth": "the value that is detached here keeps",
    "held-growth": "the parameters of the module called here keep",
}


class GraphGrowsEachPass(Seen):
    fact = "growth"
    anyway = True
    sentence = "{what} {subject} operations of earlier iterations, and more in each iteration"
    raises = (
        Example(CARRIED, "loss.backward()", "loss.backward(retain_graph=True)"),
        Example(AVERAGED, "z - mean)", "z - mean.detach())"),
        Example(AVERAGE, NETS, f"{NETS}.requires_grad_(False)"),
        Example(OF_EPOCHS, "kept[rows])", "kept[rows].detach())"),
    )
    silent = (
        Example(CARRIED, "torch.randn(5, 3), hidden)", "torch.randn(5, 3), hidden.detach())"),
        Example(AVERAGED, "0.1 * z.mean(0)", "0.1 * z.detach().mean(0)"),
        Example(UNROLLED, *RECORDED),
        Example(OF_EPOCHS, "made[rows] = out", "made[rows] = out.detach()"),
        Example(OF_THE_LAST, "kept[rows])", "kept[rows].detach())"),
        Example(AVERAGE, "mine.mul_(0.9).add_(other, alpha=0.1)", "mine.data.mul_(0.9).add_(other.data, alpha=0.1)"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        for name, what in _GROWS.items():
            for fact in evidence.edited.seen(name):
                if name != "kept-growth" or _is_new(fact.stack[0], evidence):
                    return self.found(fact.stack, what=what, subject=fact.subject)
        return None


def _is_new(frame: wire.Frame, evidence: Evidence) -> bool:
    """Whether the edit made the line of a frame: what the code itself keeps is no fault of the edit."""
    for path, data in evidence.files.items():
        if str(path) == frame.file:
            old = evidence.case.pool.target.read(path).splitlines()
            return data.splitlines()[frame.line - 1] not in old
    return False
