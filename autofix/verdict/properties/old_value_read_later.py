"""A name is read later for the value that it had

## What it finds

`x += …` or `y = x.mul_(…)` writes to a tensor that an operation of this pass made (without a graph: behind the first
operation that has one). Later something reads the tensor by a name that was bound before the write: the caller's
variable, or a list of states. And it matters for training: a run with the operation out of place (`x = x + …`) takes
other steps than the code as it is written.

Some writes are taken to be on purpose: to a part of a tensor, to a leaf, to a tensor that outlives the pass, and a
write whose new value no other name reads.

## Why it matters

The edit gives the later reader the new value. The code literally says so, but it is seldom meant: a long skip around a
block adds what went in, and a list of states holds each of them.
"""

from __future__ import annotations

from autofix.verdict.laws.a_name_keeps_its_value import passes_apart, reads_what_is_written
from autofix.verdict.property import Evidence, Example, Finding, Property

SKIP = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        x += torch.tanh(self.inner(x))
        return x


stem, block, head = nn.Linear(3, 4), Block(), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*stem.parameters(), *block.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    x = stem(torch.randn(6, 3))
    y = block(x)
    loss = head(x + y).square().mean()
    train: loss
"""
STATES = """\
start, move = nn.Linear(3, 4), nn.Linear(4, 4)
optimizer = torch.optim.Adam([*start.parameters(), *move.parameters()], lr=0.01)
for _ in range(4):
    state = start(torch.randn(6, 3))
    states = [state]
    for _ in range(3):
        state = state.add_(torch.tanh(move(state)))
        states.append(state)
    loss = sum(weight * (one - 1).abs().mean() for weight, one in enumerate(states, 1))
    train: loss
"""
VIEW = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    hidden = torch.sigmoid(net(torch.randn(6, 3)))
    first = hidden[:, 0]
    first *= 1.5
    loss = head(hidden).square().mean() + first.mean()
    train: loss
"""
ONLY_THE_NEW = SKIP.replace("head(x + y)", "head(y)")
MASKED = """\
net, keep = nn.Linear(3, 4), (torch.rand(6, 4) > 0.5).float()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    scores = torch.softmax(net(torch.randn(6, 3)), -1)
    masked = scores.mul_(keep)
    loss = (masked / masked.sum(-1, keepdim=True).clamp(min=0.1)).square().mean()
    train: loss
"""
IN_A_LIST = """\
nets = nn.ModuleList(nn.Linear(3, 4) for _ in range(2))
optimizer = torch.optim.SGD(nets.parameters(), lr=0.1)
for _ in range(4):
    levels = [torch.sigmoid(net(torch.randn(6, 3))) for net in nets]
    for level in levels:
        level *= 0.5
    loss = sum((level - 1).square().mean() for level in levels)
    train: loss
"""
ANOTHER_LOSS_FIRST = SKIP.replace("    y = block(x)\n", "    head(x.detach()).mean().backward()\n    y = block(x)\n")
NORMALISED = SKIP.replace("head(x + y)", "head(x + nn.functional.layer_norm(y, (4,)))")
TURNED = """\
net, codes = nn.Conv1d(1, 4, 3), nn.Parameter(torch.randn(3, 4))
optimizer = torch.optim.SGD([*net.parameters(), codes], lr=0.1)


def quantize(x):
    rest, losses = x, []
    for code in codes:
        losses.append((rest * code).square().mean())
        rest -= code.detach()
    return sum(losses)


for _ in range(4):
    z = net(torch.randn(6, 1, 5)).transpose(1, 2)
    loss = quantize(z) + z.square().mean()
    train: loss
"""
FLAT = VIEW.replace("first = hidden[:, 0]", "first = hidden.view(-1)").replace(" + first.mean()", "")
MEANS = """\
net, blur = nn.Conv2d(1, 1, 3, padding=1), nn.AvgPool2d(3, 1)
optimizer, clean = torch.optim.SGD(net.parameters(), lr=0.1), torch.rand(12, 1, 6, 6)
for target in clean.split(4):
    out = net(target + 0.1)
    mean, aim = blur(out), blur(target)
    both = blur(out * target) - mean * aim
    spread = blur(target.square()) - aim.square_()
    loss = ((mean - aim).square() - both * spread).mean()
    train: loss
"""
SPREAD_ONLY = MEANS.replace("(mean - aim)", "(mean - 1)")
BATCHES = """net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = torch.utils.data.DataLoader(torch.rand(16, 3), batch_size=4)
for x in loader:
    aim = x
    first = net(torch.rand(4, 3)) * x
    x -= 0.5
    loss = (first - aim).square().mean() + net(x).mean()
    train: loss
"""
MADE_BEFORE = BATCHES.replace("torch.utils.data.DataLoader(torch.rand(16, 3), batch_size=4)", "[torch.rand(4, 3)] * 2")
AVERAGE = """net, average, history = nn.Linear(3, 3), torch.ones(3), []
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    out = net(torch.randn(5, 3))
    kept = average
    scaled = out * average
    average *= 0.9
    loss = (scaled - kept).square().mean()
    train: loss
"""
COPIED = ("self.inner(x)", "self.inner(x.clone())")


class OldValueReadLater(Property):
    change = "old_values"
    sentence = (
        "a variable that was assigned before this write in place is read after it; it may be meant to keep its old "
        "value"
    )
    raises = (
        Example(SKIP, *COPIED),
        Example(NORMALISED, *COPIED),
        Example(ANOTHER_LOSS_FIRST, *COPIED),
        Example(STATES, "move(state)", "move(state.clone())"),
        Example(TURNED, "(rest * code)", "(rest.clone() * code)"),
        Example(MEANS, "mean * aim\n", "mean * aim.clone()\n"),
    )
    silent = (
        Example(ONLY_THE_NEW, *COPIED),
        Example(
            MASKED,
            "scores = torch.softmax(net(torch.randn(6, 3)), -1)",
            "scores = torch.softmax(net(torch.randn(6, 3)), -1).clone()",
        ),
        Example(VIEW, "torch.sigmoid(net(torch.randn(6, 3)))", "torch.sigmoid(net(torch.randn(6, 3))).clone()"),
        Example(FLAT, "torch.sigmoid(net(torch.randn(6, 3)))", "torch.sigmoid(net(torch.randn(6, 3))).clone()"),
        Example(IN_A_LIST, "torch.sigmoid(net(torch.randn(6, 3)))", "torch.sigmoid(net(torch.randn(6, 3))).clone()"),
        Example(SPREAD_ONLY, "mean * aim\n", "mean * aim.clone()\n"),
        Example(BATCHES, "* x\n", "* x.clone()\n"),
        Example(MADE_BEFORE, "* x\n", "* x.clone()\n"),
        Example(AVERAGE, "out * average\n", "out * average.clone()\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        # Where nothing reads it but by the older name, it is a write on purpose.
        if not passes_apart(evidence) or reads_what_is_written(evidence) is False:
            return None
        return self.found(next(iter(evidence.whole_writes), ()))
