"""What one pass sets in a parameter is read by the next

## What it finds

A forward sets some entries of a parameter to a constant (`scores[banned] = -1e9`, `weight.masked_fill_(drop, 0.0)`),
and an optimizer trains that parameter. The edit makes that write one without gradient, so that it lasts: a later pass
reads entries that an earlier one has set and it has not. This is not said where each pass sets the same entries, or
those and more, as a mask does; nor of what is set where the parameter itself says so (`w[w > 1] = 1`), of a write
behind a step, and of values from data.

## Why it matters

What is set anew in each pass, and otherwise each time, is mostly meant for that pass: actions that are not allowed now,
inputs that are left out once. As an update nothing ever sets the old value back, so that after some passes all actions
are forbidden. It belongs on a copy.
"""

from __future__ import annotations

from autofix.verdict.property import Example, OfTheCode

BANNED = """\
base, net = nn.Parameter(torch.randn(4)), nn.Linear(3, 4)
optimizer = torch.optim.Adam([base, *net.parameters()], lr=0.03)
allowed = [[0], [1, 2], [3], [0, 2], [1]]
for banned in allowed:
    base[banned] = -1e9
    loss = F.cross_entropy(base + net(torch.randn(3)), torch.tensor(3 if 3 not in banned else 0))
    train: loss
"""
BANS = "[[0], [1, 2], [3], [0, 2], [1]]"
MOLECULES = """\
class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.base, self.net = nn.Parameter(torch.randn(3, 4)), nn.Linear(4, 4)

    def sample(self, budget):
        state, total = torch.ones(4), 0.0
        for i in range(3):
            self.base[i, budget:] = -1e9
            logits = self.base[i] + self.net(state)
            total = total + F.cross_entropy(logits, torch.tensor(0))
            state = state + logits.detach().softmax(0)
        return total


flow = Flow()
optimizer = torch.optim.Adam(flow.parameters(), lr=0.03)
for _ in range(4):
    loss = sum(flow.sample(budget) for budget in (1, 3, 2))
    train: loss
"""
DROPPED = """\
weight = nn.Parameter(torch.randn(4, 5))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(5):
    weight.masked_fill_(torch.rand(4, 5) < 0.3, 0.0)
    loss = (torch.randn(6, 4) @ weight - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
FILLED = "masked_fill_(torch.rand(4, 5) < 0.3, 0.0)"
ROWS = """\
class Users(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(6, 3))

    def forward(self, i):
        self.rows[i, 0] = 0.0
        return F.embedding(torch.tensor([i]), self.rows).square().sum()


users = Users()
optimizer = torch.optim.SGD(users.parameters(), lr=0.1)
for _ in range(4):
    loss = sum(users(int(i)) for i in torch.randperm(6)[:3])
    train: loss
"""
BY_HELPER = """\
def clear(weight, row):
    weight[row, row] = 0.0


weight = nn.Parameter(torch.randn(4, 4))
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(4):
    for row in range(4):
        clear(weight, row)
    loss = (weight @ torch.randn(4) - 1).square().mean()
    train: loss
"""
WITHOUT = "    base[", "    with torch.no_grad(): base["
ON_ROWS = "            self.base[i,", "            with torch.no_grad(): self.base[i,"
DATA = "weight.masked_fill_", "weight.data.masked_fill_"
OF_USERS = "self.rows[i, 0] =", "self.rows.data[i, 0] ="
HELPED = "    weight[row, row] = 0.0", "    with torch.no_grad(): weight[row, row] = 0.0"
CLIPPED = BANNED.replace("base[banned] = -1e9", "base[base > 0.1] = 0.1").replace("lr=0.03", "lr=0.3")
BEHIND = DROPPED.replace("    weight.masked_fill_(torch.rand(4, 5) < 0.3, 0.0)\n", "").replace(
    ".step()\n", ".step()\n    weight.masked_fill_(torch.rand(4, 5) < 0.3, 0.0)\n"
)
BORN_AGAIN = BANNED.replace("base[banned] = -1e9", "base[banned] = torch.randn(len(banned))")


class WriteOutlastsPass(OfTheCode):
    fact = "entries-left"
    sentence = (
        "done under no_grad, this write stays in {subject}, and later iterations read entries that only an earlier "
        "one set; it may be meant for one iteration alone"
    )
    raises = (
        Example(BANNED, *WITHOUT),
        Example(MOLECULES, *ON_ROWS),
        Example(DROPPED, *DATA),
        Example(DROPPED.replace(FILLED, "mul_(torch.rand(4, 5) < 0.3)"), "t.mul_", "t.data.mul_"),
        Example(DROPPED.replace(FILLED, "index_fill_(0, torch.randint(4, (2,)), 0.0)"), "t.index", "t.data.index"),
    )
    silent = (
        Example(BANNED.replace(BANS, "[[1]] * 5"), *WITHOUT),
        Example(BANNED.replace(BANS, "[[], [1], [1, 2], [1, 2], [0, 1, 2]]"), *WITHOUT),
        Example(MOLECULES.replace("(1, 3, 2)", "(2, 2, 2)"), *ON_ROWS),
        Example(ROWS, *OF_USERS),
        Example(BY_HELPER, *HELPED),
        Example(CLIPPED, *WITHOUT),
        Example(BEHIND, *DATA),
        Example(BORN_AGAIN, *WITHOUT),
        Example(
            BANNED.replace("    base[banned] = -1e9", "    if len(banned) > 1:\n        base[[1, 2]] = -1e9"),
            "        base[[1, 2]]",
            "        with torch.no_grad(): base[[1, 2]]",
        ),
    )
