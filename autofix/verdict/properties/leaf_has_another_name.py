"""A leaf is written that another name stands for

## What it finds

A second name was given to a leaf (`best = w`), or an attribute (`self.best = self.w`), or a place in a container in the
same loop (`best["w"] = w`, `seen.append(w)`); the leaf is written (`w -= …`), and the older name is read afterwards. In
a run in which the write goes to a copy, the script shows other numbers in the end, where the edit shows those of the
code. It is not said of containers that were given the leaf before the loop.

So it is of a leaf that is handed to a module which writes to it, where the caller reads it later, as for its gradient.
Where a write of the forward has a gradient, it is said, too, of a variable that was given the leaf (`x = self.weight`,
or a helper's `x`): as written, `x[hidden] = self.token` shows in `self.weight`, also as the target of the loss.

## Why it matters

What was kept is the leaf itself: the best weights, or those to return to, are always the newest. `.detach().clone()`
keeps the values.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property
from autofix.verdict.shared import other_names

BEST = """\
x, y = torch.randn(30, 3), torch.randn(30)
w = torch.zeros(3, requires_grad=True)
best, low = w, 1e9
for i in range(8):
    loss = (x @ w - y).square().mean()
    if loss.item() < low:
        best, low = w, loss.item()
    loss.backward()
    w -= 0.3 * w.grad
    w.grad.zero_()
    print(i, loss.item(), best.sum().item())
"""
CHAIN = """\
x = torch.rand(20, 3)


def energy(q):
    return (x @ q - 1).square().sum() * 5


def moved(q):
    for _ in range(3):
        q.grad = None
        energy(q).backward()
        q += 0.05 * torch.randn(3) - 0.01 * q.grad
    return q


def sample(q):
    current = q
    before = energy(q).item()
    q = moved(q)
    if torch.rand(()).item() < before - energy(q).item():
        return q
    return current


q = torch.randn(3, requires_grad=True)
for _ in range(12):
    q = sample(q)
    print(energy(q).item())
"""
TRAINER = """\
class Trainer:
    def __init__(self):
        self.w = torch.zeros(3, requires_grad=True)
        self.best, self.low = self.w, 1e9

    def step(self, x, y):
        loss = (x @ self.w - y).square().mean()
        if loss.item() < self.low:
            self.best, self.low = self.w, loss.item()
        loss.backward()
        self.w -= 0.3 * self.w.grad
        self.w.grad.zero_()


trainer, x, y = Trainer(), torch.randn(30, 3), torch.randn(30)
for _ in range(8):
    trainer.step(x, y)
    print(trainer.best.sum().item())
"""
BY_TRAINER = (
    "        self.w -= 0.3 * self.w.grad",
    "        with torch.no_grad():\n            self.w -= 0.3 * self.w.grad",
)
SUBTRACTED = TRAINER.replace("self.w -= 0.3 * self.w.grad", "self.w.sub_(0.3 * self.w.grad)")
BY_METHOD = tuple(text.replace("self.w -= 0.3 * self.w.grad", "self.w.sub_(0.3 * self.w.grad)") for text in BY_TRAINER)
IN_A_DICT = (
    BEST.replace("best, low = w, 1e9", 'best = {"w": w, "low": 1e9}')
    .replace("< low", '< best["low"]')
    .replace("best, low = w, loss", 'best["w"], best["low"] = w, loss')
    .replace("best.sum", 'best["w"].sum')
)
IN_A_TUPLE = (
    BEST.replace("best, low = w, 1e9", "best = w, 1e9")
    .replace("< low", "< best[1]")
    .replace("best, low = w, loss", "best = w, loss")
    .replace("best.sum", "best[0].sum")
)
IN_A_LIST = (
    BEST.replace("best, low = w, 1e9", "best, low = [], 1e9")
    .replace("best, low = w, loss.item()", "best.append((i, w))\n        low = loss.item()")
    .replace("best.sum", "best[0][1].sum")
)
BEHIND = BEST.replace("    print(i, loss.item(), best.sum().item())", "print(low, (x @ best - y).abs().mean().item())")
FIRST = BEHIND.replace("(x @ best - y).abs().mean()", "(best - w).norm()").replace(
    "    if loss.item() < low:\n        best, low = w, loss.item()\n", ""
)
SAVED = BEHIND.replace("print(low, (x @ best - y).abs().mean().item())", "print(low)\ntorch.save(best, '/dev/null')")
HIDDEN = """\
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.token = nn.Embedding(6, 4), nn.Parameter(torch.zeros(4))
        self.inner = nn.Linear(4, 4)

    def hide(self, x, hidden):
        x[hidden] = self.token
        return x

    def forward(self):
        hidden = torch.randperm(6)[:3]
        x = self.hide(self.table.weight, hidden)
        return (self.inner(x)[hidden] - READ).square().mean()


masked = Masked()
optimizer = torch.optim.SGD(masked.parameters(), lr=0.1)
for _ in range(4):
    loss = masked()
    train: loss
"""
AIMED = HIDDEN.replace("READ", "self.table.weight[hidden]")
BY_A_NAME = AIMED.replace("self.hide(self.table.weight, hidden)", "self.table.weight\n        x[hidden] = self.token")
FRONT = """\
class Front(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 1)

    def forward(self, wave):
        wave[:, 1:] -= 0.9 * wave[:, :-1]
        return self.inner(torch.tanh(wave))


net = Front()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    wave = torch.rand(6, 4, requires_grad=True)
    fit = (net(wave) - 1).square().mean()
    slope, = torch.autograd.grad(fit, READ, create_graph=True)
    loss = fit + slope.square().sum()
    train: loss
"""
FILTERED = FRONT.replace("READ", "wave")
BY_VALUES = ("wave[:, 1:] -= 0.9 * wave[:, :-1]", "wave.data[:, 1:] -= 0.9 * wave.data[:, :-1]")
COPIED = "        x[hidden] = self.token", "        x = x.clone()\n        x[hidden] = self.token"


def _with_one_copy(text: str) -> tuple[str, str, str]:
    """The script, and the edit in which all of a forward reads what it has written."""
    there = text[text.index("        hidden =") : text.index("[hidden]).square")]
    return text, there, "        whole = self.table.weight.clone()\n" + there.replace("self.table.weight", "whole")


OWNED = BEST.replace("best, low = w, 1e9", 'best, low = {"w": w}, 1e9').replace("best, low = w, loss", "low = loss")
OWNED = OWNED.replace("best.sum", 'best["w"].sum')
LISTED = OWNED.replace("    loss = ", '    best = {"w": w}\n    loss = ')
IN_PLACE = ("    w -= 0.3 * w.grad", "    with torch.no_grad():\n        w -= 0.3 * w.grad")
FIRST_IS = FIRST[FIRST.index("best, low") : FIRST.index(IN_PLACE[0])]
STEPPED = (
    "        q += 0.05 * torch.randn(3) - 0.01 * q.grad",
    "        with torch.no_grad():\n            q += 0.05 * torch.randn(3) - 0.01 * q.grad",
)


class LeafHasAnotherName(Property):
    change = "copied"
    sentence = (
        "{subject} is the same leaf as {other}, which this line writes, and is read afterwards; it may be meant to "
        "keep its value"
    )
    raises = (
        Example(BEST, *IN_PLACE),
        Example(BEHIND, *IN_PLACE),
        Example(FIRST, *IN_PLACE),
        Example(SAVED, *IN_PLACE),
        Example(CHAIN, *STEPPED),
        Example(CHAIN.replace("torch.rand(()).item() <", "-1000 <"), *STEPPED),
        Example(TRAINER, *BY_TRAINER),
        Example(SUBTRACTED, *BY_METHOD),
        Example(IN_A_DICT, *IN_PLACE),
        Example(IN_A_TUPLE, *IN_PLACE),
        Example(IN_A_LIST, *IN_PLACE),
        Example(*_with_one_copy(AIMED)),
        Example(*_with_one_copy(BY_A_NAME)),
        Example(FILTERED, *BY_VALUES),
        Example(FILTERED, "requires_grad=True)", "requires_grad=True).clone()"),
    )
    silent = (
        Example(FILTERED, "net(wave)", "net(wave.clone())"),
        Example(FILTERED, BY_VALUES[0], "wave = wave.clone()\n        wave[:, 1:] -= 0.9 * wave[:, :-1]"),
        Example(FRONT.replace("READ", "net.inner.weight"), *BY_VALUES),
        Example(SUBTRACTED.replace("= self.w, loss", "= self.w.clone(), loss"), *BY_METHOD),
        Example(IN_A_DICT.replace("= w, loss", "= w.detach().clone(), loss"), *IN_PLACE),
        Example(IN_A_LIST.replace("best[0][1].sum()", "w.sum()"), *IN_PLACE),
        Example(OWNED, *IN_PLACE),
        Example(LISTED.replace("    print", "    if i < 0:\n        print"), *IN_PLACE),
        Example(TRAINER.replace("self.best, self.low = self.w, loss", "self.low = loss"), *BY_TRAINER),
        Example(
            TRAINER.replace("self.best, self.low = self.w", "self.best, self.low = self.w.detach().clone()"),
            *BY_TRAINER,
        ),
        Example(TRAINER.replace("trainer.best.sum", "trainer.w.sum"), *BY_TRAINER),
        Example(BEST.replace("best.sum", "w.sum"), *IN_PLACE),
        Example(BEHIND.replace("x @ best", "x @ w"), *IN_PLACE),
        Example(BEHIND.replace("best, low = w, loss", "best, low = w.detach().clone(), loss"), *IN_PLACE),
        Example(FIRST, f"{FIRST_IS}{IN_PLACE[0]}", f"{FIRST_IS.replace('= w,', '= w.detach().clone(),')}{IN_PLACE[1]}"),
        Example(BEST.replace("best, low = w, loss", "best, low = w.detach().clone(), loss"), *IN_PLACE),
        Example(
            BEST.replace("best, low = w, 1e9", "best, low = 0 * w, 1e9").replace("best, low = w", "best, low = 2 * w"),
            *IN_PLACE,
        ),
        Example(CHAIN.replace("current = q", "current = q.detach().clone().requires_grad_()"), *STEPPED),
        Example(CHAIN.replace("return current", "return q"), *STEPPED),
        Example(HIDDEN.replace("READ", "1"), *COPIED),
        Example(HIDDEN.replace("READ", "x[hidden]"), *COPIED),
        Example(AIMED.replace("self.table.weight[hidden]", "len(self.table.weight)"), *COPIED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        named = other_names.of_leaf(evidence)
        return (
            self.found(named[1], **other_names.words(evidence, *named)) if other_names.shows(evidence, named) else None
        )
