"""A tensor is written by a second name

## What it finds

A name was given to what another name stands for (`masked = scores`), the new one was written by (`masked[:, :2] = 0`,
`masked.mul_(2)`), and the old one is read afterwards, or what a caller handed over for it. So it is of two parts that
overlap (`now, after = values[:-1], values[1:]`, then `after[done] = 0`), where nothing reads the whole afterwards; of
data of which each turn hands a slice to a function that writes to it (`net(data[i : i + 16])`); and of what outlives
the pass that gives it a second name (`mesh = self.template`, `mesh += …`), if it is no state: that is also written by
its own name or starts empty, or its new value is made of the old one. So it is of what an object or a container holds
(`self.features = h`, `seen.append(h)`, `x = out.states`), where the passes train on that, too, and of data that a pass
is given by a name of its own, and that a later pass is given again: an item of a list or of a data set, an attribute of
one, what a function keeps, an array's memory, or a default value. There the new values are made of the old ones,
numbers, draws and what a module holds; what is made of other data of the pass makes a state. Of a leaf it is said where
the older name is read afterwards (`best = w`, then `w -= …`), or an attribute that a method gave it (`self.best =
self.w`), or a container that is given it in the same loop (`best["w"] = w`, `seen.append(w)`). A run in which the write
goes to a copy trains otherwise or, of a leaf, shows other numbers in the end of the script, where the edit shows those
of the code; or a condition decides whether a pass reads the older name (`if better: return x`, then `return before`);
and the edit keeps the write as it is. This is not said of what is read by the new name alone, nor of containers that
were given it before, nor of a tensor that began empty and is handed to a function that fills it. Where the write shows
in nothing but what is printed, it is said of an edit that prints what the code prints.

## Why it matters

Both names are one tensor, so the old one shows the write, too. Who gives a tensor a second name before writing mostly
means a copy; `.clone()` makes one. A helper that normalises what it is given, for one loss, changes what the other loss
compares.
"""

from __future__ import annotations

from dataclasses import replace

from autofix.experiments.compare import comparable, differences
from autofix.experiments.sketches import LIVE
from autofix.probe import wire
from autofix.verdict.property import Evidence, Example, Finding, Property
from autofix.verdict.shared import other_names

BLOCK = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    gate = torch.sigmoid(net(torch.randn(6, 3)))
    masked = gate
    masked[:, :2] = 0.5
    loss = (head(masked) * READ).square().mean()
    train: loss
"""
HELPED = (
    BLOCK.replace("READ", "gate")
    .replace("    masked = gate\n    masked[:, :2] = 0.5", "    masked = halved(gate)")
    .replace("for _", "def halved(x):\n    out = x\n    out[:, :2] = 0.5\n    return out\n\n\nfor _", 1)
)
BEFORE = HELPED.replace("    masked =", "    whole = gate\n    masked =").replace("* gate", "* whole")
PRINTED = f"{BLOCK.replace('READ', 'masked')}    print(float(gate.mean()))\n"
SPARED = ("torch.sigmoid(net(torch.randn(6, 3)))", "torch.sigmoid(net(torch.randn(6, 3))).clone()")
STACKED = """\
class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        out = 0
        for layer in (self.one, self.two):
            seen = layer(x).tanh()
            x -= seen.detach()
            out = out + seen.mean(1)
        return out


net, data = Stack(), torch.rand(8, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for i in range(0, 8, 4):
        out = net(data[i : i + 4])
        loss = (out - 1).square().mean()
        train: loss
"""
LAYERED = ("layer(x)", "layer(x.clone())")
PASSED_ON = """\
def normalised(x):
    x.sub_(0.5).div_(0.2)
    return x


def score(x):
    x = normalised(x)
    return x.tanh().square().mean()


torch.manual_seed(0)
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    image = torch.sigmoid(net(torch.randn(6, 3)))
    seen = score(image)
    loss = seen + (image - 0.3).abs().mean()
    train: loss
"""
VALUES = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    values = torch.sigmoid(net(torch.randn(6, 3))).squeeze(1)
    now, after = values[:-1], values[1:]
    after[torch.tensor([1, 3])] = 0.0
    loss = (0.5 + 0.9 * after.detach() - now).square().mean()
    train: loss
"""
CLONED = (
    "torch.sigmoid(net(torch.randn(6, 3))).squeeze(1)",
    "torch.sigmoid(net(torch.randn(6, 3))).squeeze(1).clone()",
)
MESH = """\
class Deformed(nn.Module):
    def __init__(self, template):
        super().__init__()
        self.register_buffer("template", template)
        self.net = nn.Linear(3, 4)

    def forward(self, code):
        mesh = self.template
        mesh += 0.1 * self.net(code)
        return mesh


torch.manual_seed(0)
model, codes = Deformed(torch.randn(4)), torch.randn(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for code in codes:
    loss = (model(code) - 1).square().mean()
    train: loss
"""
WEIGHED = """\
class Spatial(nn.Module):
    def __init__(self, adjacency):
        super().__init__()
        self.A, self.net = adjacency, nn.Linear(4, 4)
        self.mask = nn.Parameter(torch.ones(4, 4))

    def forward(self, x):
        A = self.A
        A *= self.mask
        return self.net(x) @ A


torch.manual_seed(0)
model = Spatial(torch.rand(4, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    loss = (model(torch.randn(3, 4)) - 1).square().mean()
    train: loss
"""
MOVED_FIRST = WEIGHED.replace("        A = self.A\n", '        self.A = self.A.to("cpu")\n        A = self.A\n')
IN_PART = WEIGHED.replace("A *= self.mask", "A[1:] *= self.mask[1:]")
HANDED = WEIGHED.replace("        A = self.A\n        A *= self.mask\n", "        A = self.weighed(self.A)\n").replace(
    "    def forward", "    def weighed(self, A):\n        A.mul_(self.mask)\n        return A\n\n    def forward"
)
BY_ROWS = WEIGHED.replace(
    "        A = self.A\n        A *= self.mask\n        return self.net(x) @ A\n",
    """\
        seen, out = self.net(x), 0
        for row in range(4):
            part = self.A[row]
            part *= self.mask[row]
            out = out + seen * part
        return out
""",
)
ROWS = BY_ROWS[BY_ROWS.index("* part") :]
COPIED_ROWS = ROWS.replace("* part", "* part.clone()").replace("loss\n", "loss\n    model.A = model.A.detach()\n")
CUT_A = ("    optimizer.step()\n", "    optimizer.step()\n    model.A = model.A.detach()\n")
FILLED = """\
def attend(x, cache, at):
    cache[:, at] = k(x)
    return torch.softmax(torch.einsum("bd,btd->bt", q(x), cache), -1)


torch.manual_seed(0)
q, k = nn.Linear(3, 4), nn.Linear(3, 4)
optimizer = torch.optim.SGD([*q.parameters(), *k.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(5, 2, 3)
    cache = torch.zeros(5, 2, 4)
    first = attend(x[:, 0], cache, 0)
    second = attend(x[:, 1], cache, 1)
    loss = (first + second).square().mean() + cache.square().mean()
    train: loss
"""
ROLLED = ("mesh = self.template\n", "mesh = self.template.detach()\n")
STARTED = MESH.replace("torch.randn(4)", "torch.zeros(4)").replace(
    'register_buffer("template", template)', 'register_buffer("template", torch.zeros(4))'
)
RESET = MESH.replace("for code in codes:\n", "for code in codes:\n    model.template.mul_(0.5)\n")
BOUND = MESH.replace(
    "        return mesh\n", "        return mesh\n\n    def begin(self, template):\n        self.template = template\n"
)
RECURRENT = MESH.replace("self.net(code)", "self.net(code + self.seen(mesh))").replace(
    "    def forward", "    def seen(self, mesh):\n        return mesh[:3].detach()\n\n    def forward"
)
ROLLOUT = """\
class World:
    def __init__(self):
        self.position = torch.rand(4)

    def step(self, action):
        position = self.position
        position += 0.1 * action.tanh()
        return position


torch.manual_seed(0)
policy, world = nn.Linear(4, 4), World()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
seen = torch.rand(4)
for _ in range(5):
    action = policy(2 * seen)
    seen = world.step(action)
    loss = (seen - 1).square().mean()
    train: loss
"""
MOVED = ROLLOUT.replace("    seen = world.step(action)\n    loss = (seen", "    loss = (world.step(action)").replace(
    "2 * seen", "2 * world.position"
)
STOPPED = ("    optimizer.step()\n", "    optimizer.step()\n    world.position.detach_()\n")
LOOPED = """\
net, base = nn.Linear(3, 4), torch.randn(4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    moved = base
    moved += 0.1 * net(torch.randn(3))
    loss = (moved - 1).square().mean()
    train: loss
"""
NAMED_ONCE = LOOPED.replace("    moved = base\n", "").replace("for _ in", "moved = base\nfor _ in")
ENDED = ("    optimizer.step()\n", "    optimizer.step()\n    base.detach_()\n")


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
OWNED = BEST.replace("best, low = w, 1e9", 'best, low = {"w": w}, 1e9').replace("best, low = w, loss", "low = loss")
OWNED = OWNED.replace("best.sum", 'best["w"].sum')
LISTED = OWNED.replace("    loss = ", '    best = {"w": w}\n    loss = ')
IN_PLACE = ("    w -= 0.3 * w.grad", "    with torch.no_grad():\n        w -= 0.3 * w.grad")
FIRST_IS = FIRST[FIRST.index("best, low") : FIRST.index(IN_PLACE[0])]
STEPPED = (
    "        q += 0.05 * torch.randn(3) - 0.01 * q.grad",
    "        with torch.no_grad():\n            q += 0.05 * torch.randn(3) - 0.01 * q.grad",
)


VIEWS = """\
def without(x):
    at = torch.randint(3, ()).item()
    x[:, at] = 0
    return x


def score(x):
    return head(x).square().mean()


net, head = nn.Linear(4, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    h = net(torch.randn(6, 4))
    whole = score(h)
    views = [score(without(h)) for _ in range(2)]
    loss = whole + (views[0] - 1).square() + sum(views)
    train: loss
"""
ROUNDS = """\
    views = []
    for _ in range(2):
        h = net(torch.randn(6, 4))
        views.append(score(h) + score(without(h)))
"""
IN_SCORE = ("head(x)", "head(x.clone())")


RESIDUAL = """\
def rest(x):
    x -= torch.tanh(net(x))
    return x


torch.manual_seed(0)
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    seen = torch.randn(6, 3)
    loss = rest(seen).square().mean()
    train: loss
    print(seen.mean().item())
"""

STANDING = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 4), nn.Linear(3, 4)
        self.scale = torch.rand(3)

    def forward(self, x, y=None):
        seen = self.one(x)
        WRITE
        return seen + self.two(x)


def taken(i):
    return rows[i]


array = torch.rand(3, 6, 3).numpy()
rows = [torch.rand(6, 3) for _ in range(3)]
records = [{"x": one, "y": torch.rand(6, 3)} for one in rows]
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(EPOCHS):
    for i, record in enumerate(records):
        loss = (net(GIVEN) - 1).square().mean()
        train: loss
"""
KEPT = ("self.one(x)", "self.one(x.clone())")


def _standing(given: str, write: str = "x *= self.scale", epochs: int = 3) -> str:
    return STANDING.replace("GIVEN", given).replace("WRITE", write).replace("EPOCHS", str(epochs))


HELD = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.gate = nn.Linear(3, 4), nn.Linear(4, 3), nn.Linear(4, 4)
        self.seen = None

    def forward(self, x):
        h = torch.tanh(self.one(x))
        kept = {"h": h}
        STORE
        weight = self.gate(h).tanh()
        WRITE
        return self.two(weight * h), kept


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    out, kept = net(torch.randn(6, 3))
    loss = (out - 1).square().mean() + READ
    train: loss
"""
GATED = ("self.gate(h)", "self.gate(h.clone())"), ("self.one(x))", "self.one(x)).clone()")


def _held(store: str, write: str, read: str) -> Example:
    text = HELD.replace("STORE", store).replace("WRITE", write).replace("READ", read)
    return Example(text, text, text.replace(*GATED[0]).replace(*GATED[1]))


ATTRIBUTE = ("self.seen = h", "h[:, 0] = 0", "net.seen.square().mean()")
ITEM = ('h = kept["h"]', "h.mul_(0.5)", "kept['h'].square().mean()")
LONG = _standing("taken(i)").replace("range(3)", "range(45)")
WIPED = """\
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
for x in torch.randn(4, 5, 6, 3):
    h, states = torch.zeros(6, 4), []
    for row in x:
        h = cell(row, h)
        states.append(h)
        h[row[:, 0] > 1] = 0.0
    loss = (head(torch.stack(states)) - 1).square().mean()
    train: loss
"""
_PUT, _WRITE = "        states.append(h)\n", "        h[row[:, 0] > 1] = 0.0\n"
WIPED_FIRST = WIPED.replace(_PUT + _WRITE, _WRITE + _PUT)


class OtherNameIsWritten(Property):
    change = "copied"
    sentence = (
        "{subject} is the same tensor as {other}, which this line writes, and is read afterwards; it may be meant to "
        "keep its value"
    )
    raises = (
        Example(BEFORE, *SPARED),
        Example(STACKED, *LAYERED),
        Example(BLOCK.replace("READ", "gate"), *SPARED),
        Example(BLOCK.replace("READ", "gate").replace("masked[:, :2] = 0.5", "masked.clamp_(max=0.5)"), *SPARED),
        Example(HELPED, *SPARED),
        Example(VIEWS, *IN_SCORE),
        Example(PRINTED, *SPARED),
        Example(PASSED_ON, *SPARED),
        Example(VALUES, *CLONED),
        Example(MESH, *ROLLED),
        Example(WEIGHED, *CUT_A),
        Example(MOVED_FIRST, *CUT_A),
        Example(IN_PART, *CUT_A),
        Example(HANDED, *CUT_A),
        Example(BY_ROWS, ROWS, COPIED_ROWS),
        Example(LOOPED, *ENDED),
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
        Example(RESIDUAL, "net(x)", "net(x.clone())"),
        _held(*ATTRIBUTE),
        _held(*ITEM),
        _held("self.seen = h = h + 0.1", "h = F.threshold(h, 0.5, 0, inplace=True)", "net.seen.square().mean()"),
        _held('kept["all"] = []\n        kept["all"].append(h)', "h.mul_(0.5)", "kept['all'][0].square().mean()"),
        Example(WIPED, "states.append(h)\n", "h = h.clone()\n        states.append(h)\n"),
        Example(_standing("taken(i)"), *KEPT),
        Example(LONG, *KEPT),
        Example(_standing("taken(i)", "spread = x.std(0)\n        x.sub_(x.mean(0)).div_(spread)"), *KEPT),
        Example(_standing("record['x']", "x += 0.1 * torch.randn_like(x)"), *KEPT),
        Example(_standing("torch.from_numpy(array[i])", "x[:, 0] = 0"), *KEPT),
        Example(_standing("").replace("(self, x, y=None)", "(self, x=torch.rand(6, 3))"), *KEPT),
    )
    silent = (
        Example(WIPED_FIRST, "cell(row, h)", "cell(row, h).clone()"),
        _held("self.seen = h", "h[:, 0] = 0", "0"),
        _held("self.seen = h.clone()", "h = F.threshold(h, 0.5, 0, inplace=True)", "net.seen.square().mean()"),
        _held("self.seen = h.clone()", "h[:, 0] = 0", "net.seen.square().mean()"),
        Example(_held(*ATTRIBUTE).text, "h[:, 0] = 0", "h = h.clone()\n        h[:, 0] = 0"),
        _held('h = kept["h"].clone()', "h.mul_(0.5)", "kept['h'].square().mean()"),
        Example(_standing("taken(i)"), "x *= self.scale", "x = x * self.scale"),
        Example(_standing("taken(i)", epochs=1), *KEPT),
        Example(_standing("taken(i).clone()"), *KEPT),
        Example(_standing("torch.tensor(array[i])"), *KEPT),
        Example(_standing("record['x'], record['y']", "x.mul_(0.9).add_(y)"), *KEPT),
        Example(_standing("taken(i), rows[i - 1]", "x += self.two(y).mean().detach()"), *KEPT),
        Example(BEFORE.replace("* whole", "* masked"), *SPARED),
        Example(STACKED, "x -= seen.detach()", "x = x - seen.detach()"),
        Example(STACKED.replace("net(data[i", "net(torch.rand(8, 4)[i"), *LAYERED),
        Example(STACKED.replace("net(data[i : i + 4])", "net(data[[i, i + 1]])"), *LAYERED),
        Example(VIEWS.replace("for _ in range(2)", "for _ in range(1)"), *IN_SCORE),
        Example(VIEWS.replace("    views = [score(without(h)) for _ in range(2)]\n", ROUNDS), *IN_SCORE),
        Example(RESIDUAL, "x -= torch.tanh(net(x))", "x = x - torch.tanh(net(x))"),
        Example(RESIDUAL.replace("print(seen", "print(loss"), "net(x)", "net(x.clone())"),
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
        Example(BLOCK.replace("READ", "masked"), *SPARED),
        Example(BLOCK.replace("READ", "len(gate)"), *SPARED),
        Example(PRINTED, "masked = gate", "masked = gate.clone()"),
        Example(HELPED.replace("* gate", "* masked"), *SPARED),
        Example(PASSED_ON.replace("image - 0.3", "seen - 0.3"), *SPARED),
        Example(
            PASSED_ON.replace("x = normalised(x)", "normalised(x)")
            .replace("seen = score(image)", "score(image)")
            .replace("loss = seen +", "loss ="),
            *SPARED,
        ),
        Example(
            PASSED_ON.replace("seen = score(image)", "image = normalised(image)\n    seen = image.mean()"), *SPARED
        ),
        Example(VALUES.replace("- now)", "- values[:-1])"), *CLONED),
        Example(
            VALUES.replace("values[:-1], values[1:]", "values[:3], values[3:]")
            .replace("[1, 3]", "[1]")
            .replace("after.detach() - now", "after.detach() - now + after"),
            *CLONED,
        ),
        Example(VALUES.replace("- now)", "- after)"), *CLONED),
        Example(FILLED, "q(x), cache)", "q(x), cache.clone())"),
        Example(STARTED, *ROLLED),
        Example(RESET, *ROLLED),
        Example(BOUND, *ROLLED),
        Example(WEIGHED.replace("A = self.A\n        A *=", "self.A *=").replace("@ A", "@ self.A"), *CUT_A),
        Example(MOVED_FIRST.replace('self.A.to("cpu")', 'self.A.to("cpu").clone()'), *CUT_A),
        Example(RECURRENT, *ROLLED),
        Example(NAMED_ONCE, *ENDED),
        Example(ROLLOUT, *STOPPED),
        Example(MOVED, *STOPPED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        name, place = other_names.seen(evidence)
        if not name or (other_names.is_met(evidence) and not _matters(evidence)):
            name, place = (
                other_names.by_write(evidence) if _prints_otherwise(evidence, evidence.old_values) else ("", ())
            )
        return self.found(place, subject=f"`{name}`", other=other_names.other(evidence, name, place)) if name else None


def _matters(evidence: Evidence) -> bool:
    """Whether the program trains or shows otherwise if the write goes to a copy, and the edit does not see to it."""
    other = evidence.of(replace(evidence.code, copied=True))
    trains = not comparable(other) and differences(evidence.letter, other, LIVE)
    if trains or other_names.ends_otherwise(evidence):
        return not other_names.is_kept_by(evidence)
    return bool(other_names.by_holder(evidence)[0]) or _prints_otherwise(evidence, other)


def _prints_otherwise(evidence: Evidence, other: wire.Trace | None) -> bool:
    """Whether the program as it is meant otherwise only prints other numbers, and the edit prints those of the code."""
    letter = evidence.letter
    if other is None or comparable(other) or differences(letter, other, LIVE):
        return False
    printed = differences(letter, other, LIVE, printed=True)
    return bool(printed) and not differences(letter, evidence.edited, LIVE, printed=True)
