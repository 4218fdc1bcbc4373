"""A part of the edit does nothing that the runs could see

## What it finds

An edit that somebody else made has a part that repairs nothing and changes nothing in the runs that were compared.
Without it the script gets past the failure too, and trains the same, or as the code says where the whole edit does so
with newer parameters or other random numbers. A part is a statement, each of several expressions that changed in one,
an operation or a condition around what was there, an argument that a call lost, or a move. A condition that counts is a
part by itself, also as one of several in a new `if`, and not needed if it was true whenever it was asked.

What says otherwise what was said is no part, as it can do nothing else in a later pass. Such a statement reads by a
name the very object or memory that it read before, chooses as the program chooses, or by the form that a variable has
which it cuts either way, fills in by the mask and with the
value that an assignment did, converts the same numbers, says in addition where its tensors are to be, or tells only
autograd what to record. Nor is an operation that the edit takes from another place, or a function of torch in place of
the method. Others are a class that is no function of autograd any more, where nothing takes it for one, and a static
function of a class without objects.

A part that shows nothing is needed all the same if another does what it does: each of several can be left out, but not
all; the code as written trains otherwise without what is removed; a needed part changes another statement in the same
way, or asks for this one; or one of the same form is needed, and without that this one shows. It is also needed if a
loss is no number without it, or if it prints otherwise by newer parameters alone.

What moves is put back, and needed only if the runs show what it does and what each that it passed does. What records
numbers or binds a name of its own may move past what writes nothing that it reads, and no draw past a draw. A value
that is made once more is not needed if only what is printed shows it, nor is a part that shows only in what is kept as
a result, which no run compares.

## Why it matters

The part was not judged. A scheduler that was dropped, a clip that does not bind yet and comes too late, or a shorter
loop only shows after the runs that were compared.
"""

from __future__ import annotations

from autofix.probe import wire
from autofix.verdict.needed import unneeded
from autofix.verdict.property import Evidence, Example, Finding, Property

SCHEDULED = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100)
for _ in range(8):
    out = net(torch.randn(5, 3))
    optimizer.zero_grad()
    out.square().mean().backward()
    out.abs().mean().backward()
    optimizer.step()
    scheduler.step()
"""
FIRST = "out.square().mean().backward()"
KEPT = "out.square().mean().backward(retain_graph=True)"
REST = SCHEDULED[SCHEDULED.index(FIRST) :]
STEPS = "    optimizer.step()\n    scheduler.step()\n"
RUNS = SCHEDULED[SCHEDULED.index("    out = net") : SCHEDULED.index("    out.abs()")]
CLEAR = "    optimizer.zero_grad()\n"
CARRIED = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(5, 4)
for step in range(8):
    h = cell(torch.randn(5, 3), h)
    train: h.square().mean()
"""
PIECES = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(5, 4)
for step in range(9):
    h = h * float(step % 3 > 0)
    h = cell(torch.randn(5, 3), h)
    train: h.square().mean()
"""
BEGIN = "    h = h * float(step % 3 > 0)\n"
BEGIN_BUT = "    h = h.detach()\n    if step % 3 == 0 and LATER:\n        h = torch.zeros(5, 4)\n"
EITHER_FORM = """\
import random
lstm = random.Random(0).random() < 0
cell = nn.LSTM(3, 4) if lstm else nn.GRU(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = (torch.zeros(1, 5, 4), torch.zeros(1, 5, 4)) if lstm else torch.zeros(1, 5, 4)
for step in range(6):
    out, h = cell(torch.randn(2, 5, 3), h)
    loss = out.square().mean()
    train: loss
    if lstm:
        shown = [one.norm().item() for one in h]
    else:
        shown = [h.norm().item()]
"""
ENDS_EITHER = EITHER_FORM[EITHER_FORM.index("        shown = [h.") :]
CUTS_EITHER = f"{ENDS_EITHER}    h = tuple(one.detach() for one in h) if isinstance(h, tuple) else h.detach()\n"
BOUND_BELOW = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(8):
    h = net(torch.randn(5, 3))
    h = torch.relu(h)
    h[0] = 0.5
    train: (head(h) - 1).square().mean()
"""
MASKED = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
most = 1e6
for _ in range(8):
    heat = net(torch.randn(5, 3)).sigmoid()
    heat[:, 0] = 0
    heat[:, 3] = 0
    optimizer.zero_grad()
    (heat - 0.3).square().sum().backward()
    nn.utils.clip_grad_norm_(net.parameters(), most)
    optimizer.step()
"""
ENDS = "    heat[:, 0] = 0\n    heat[:, 3] = 0\n"
MASK = "    mask = torch.ones(4)\n    mask[0], mask[3] = 0, 0\n    heat = heat * mask\n"
FILL = """\
    ends = torch.tensor([True, False, False, True])
    heat = heat.masked_fill(ends[None].expand_as(heat), 0.0)
"""
PAIR = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
first = torch.arange(4) == 0
for _ in range(8):
    heat, size = net(torch.randn(5, 3)).sigmoid(), net(torch.randn(5, 3))
    heat[:, first] = 0
    size[:, first] = 0
    train: (heat - 0.3).square().sum().add(size.square().sum())
"""
BOTH = "    heat[:, first] = 0\n    size[:, first] = 0\n"
OF_HEAT, OF_SIZE = (f"    {name} = torch.where(first, torch.zeros(()), {name})\n" for name in ("heat", "size"))
CLIPPED = MASKED[MASKED.index("most") :]
CLIP = "    nn.utils.clip_grad_norm_(net.parameters(), most)\n"
RESET = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h, age = torch.zeros(5, 4), torch.zeros(5)
def advance(x, h, *, most=None):
    out = cell(x, h)
    return out if most is None else out.clamp(-most, most)
for _ in range(8):
    age += 1
    done = age > 200
    h = advance(torch.randn(5, 3), h, most=9.0)
    train: h.square().mean()
    h[done] = 0
"""
CHAIN = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def chained(x):
    length, scale = x.shape[1], torch.ones(4)
    out = x.exp()
    out[:, 0] = 0
    for k in range(1, length):
        out[:, k] = (out[:, k - 1] + out[:, k]).sin()
    return out * scale
for _ in range(8):
    optimizer.zero_grad()
    chained(net(torch.randn(5, 3))).square().mean().backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1e6)
    optimizer.step()
"""
TOTAL = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100)
for turn in range(8):
    total = 0
    loss = 0
    for x in torch.randn(3, 5, 3):
        total += net(x)
        loss = loss + (total - 1).square().mean() + total.square().mean()
    train: loss
    scheduler.step()
"""
STORED = """\
net, kept = nn.Linear(3, 4), []
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    out = net(torch.randn(5, 3))
    loss = out.square().mean() + sum((out - one).square().mean() for one in kept[-1:])
    train: loss
    kept.append(out)
    kept = kept[-3:]
"""
STORES = STORED[STORED.index("    kept.append") :]
LISTED = STORED.replace("    kept = kept[-3:]\n", "").replace("kept[-1:]", "kept")
LISTS = "    kept.append(out)\n"
EACH_CUT = "    kept = [one.detach() for one in kept]\n"
START = TOTAL[TOTAL.index("    total") :]
GROWS, SUM = "total += net(x)", "total = net(x) if total is None else total + net(x)"
STEPPED = "    scheduler.step()\n"
BODY = CHAIN[CHAIN.index("    length") : CHAIN.index("for _")]
IN_ROWS = """\
    with torch.enable_grad():
        rows = [torch.zeros_like(x[:, 0])]
        for k in range(1, x.shape[1]):
            rows.append((rows[-1] + x[:, k].exp()).sin())
        return torch.stack(rows, 1)
"""
REST_OF_CHAIN = CHAIN[CHAIN.index("    length") :]
NORM = CHAIN[CHAIN.index("    norm") : CHAIN.index("    optimizer.step")]
WRITE, WRITTEN = "h[done] = 0", "torch.where(done[:, None], torch.zeros(()), h.detach())"
GIVEN = "h, most=9.0"
RUN = "h = cell("
CUT = "h = h.detach()"
OTHER_WAY = "    scheduler.step()\n    optimizer.step()\n"
BEHIND = CLIPPED.replace(CLIP, "") + CLIP

CRITIC = """\
real_too = False
G, D = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
g_optimizer, d_optimizer = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (G, D))
for step in range(8):
    real, fake = torch.randn(5, 3), G(torch.randn(5, 2))
    if real_too:
        score = D(fake) - D(real).mean()
    else:
        score = D(fake)
    d_optimizer.zero_grad()
    score.mean().backward(retain_graph=True)
    d_optimizer.step()
    train[g_optimizer]: (-score.mean())
"""
TRAIN_G = "    g_optimizer.zero_grad()"
CHOSEN = "    score = D(fake) - D(real).mean() if real_too else D(fake)\n"
DECIDED = CRITIC[CRITIC.index("    if") : CRITIC.index("    d_opt")]
OWNED = MASKED.replace("net.parameters(), most", "[*net.parameters()], most")
GIVEN_OWNED = OWNED[OWNED.index("    heat[:, 0]") : OWNED.index("    optimizer.step")]
BY_NAME = f"{MASK}    owned = [*net.parameters()]\n" + GIVEN_OWNED.replace(ENDS, "").replace(
    "([*net.parameters()], most)", "(owned, most)"
)
CLEARED = "optimizer.zero_grad()\n", "for p in owned:\n        p.grad = None\n"
GIVEN_ONCE = GIVEN_OWNED.replace("[*net.parameters()]", "net.parameters()")
BY_HAND = """\
G, Q, rest = nn.Linear(3, 2), nn.Linear(2, 1), nn.Linear(2, 1)
first = torch.optim.SGD(G.parameters(), lr=0.1)
both = torch.optim.SGD([*G.parameters(), *Q.parameters()], lr=0.1)
third = torch.optim.SGD(rest.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(both, 100)
def reset():
    for p in [*G.parameters(), *Q.parameters()]:
        p.grad.data.zero_()
for _ in range(4):
    G(torch.randn(5, 3)).square().mean().backward()
    first.step()
    reset()
    Q(G(torch.randn(5, 3))).square().mean().backward()
    both.step()
    reset()
"""
FOR_EACH = BY_HAND[BY_HAND.index("    for p") : BY_HAND.index("for _")]
BY_OWNERS = "    first.zero_grad()\n    both.zero_grad()\n"
MADE_ANEW = """\
    for p in [*G.parameters(), *Q.parameters()]:
        if p.grad is not None:
            data = p.grad.data
            p.grad = data.new().resize_as_(data).zero_()
"""

BOUNDED = """\
net, scale = nn.Linear(3, 1), torch.ones(())
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
h = torch.zeros(5, 1)
for _ in range(6):
    h = net(torch.randn(5, 3)) + h
    loss = scale.item() * h.square().mean()
    train: loss
    net.weight.data.clamp_(-9, 9); scale.data.mul_(0.9)
    h = h
"""
BOUND = "    net.weight.data.clamp_(-9, 9); scale.data.mul_(0.9)\n    h = h\n"

SAMPLED = """\
energy = nn.Sequential(nn.Linear(2, 8), nn.SiLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(energy.parameters(), lr=0.05)
for _ in range(5):
    x = torch.randn(6, 2, requires_grad=True)
    for _ in range(3):
        (slope,) = torch.autograd.grad(energy(x).sum(), x)
        x -= 0.1 * slope
        x.clamp_(-9, 9)
    loss = energy(torch.randn(6, 2)).mean() - energy(x.detach()).mean()
    train: loss
"""
WATCHED = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    x = torch.randn(5, 3)
    out = net(x)
    optimizer.zero_grad()
    out.square().mean().backward()
    out.abs().mean().backward()
    optimizer.step()
    print(out.mean().item())
"""
OF_STEP = WATCHED[WATCHED.index(FIRST) : WATCHED.index("    print")]
ONCE_MORE = "    out = net(x)\n"
DRAWN = CARRIED.replace(RUN, f"x = torch.randn(5, 3)\n    noise = torch.randn(5, 3)\n    {RUN}x + noise + ")
DRAWS = "    x = torch.randn(5, 3)\n    noise = torch.randn(5, 3)\n"
SWAPPED = "    noise = torch.randn(5, 3)\n    x = torch.randn(5, 3)\n    h = h.detach()\n"
METER = """\
net, sums = nn.Linear(3, 1), {}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def add(name, value):
    sums[name] = sums.get(name, 0.0) + value
    return sums[name]
for step in range(6):
    sums.clear()
    optimizer.zero_grad()
    for x in torch.randn(2, 5, 3):
        loss = net(x).square().mean()
        total = add("loss", loss)
        add("seen", len(x))
        total.backward()
    optimizer.step()
"""
SUMS = METER[METER.index("    sums[name]") : METER.index("    optimizer.step")]
ALONE = SUMS.replace("total = ", "").replace("total.b", "loss.b")
MOVES = "        x -= 0.1 * slope\n        x.clamp_(-9, 9)\n"

TWO = """\
net, critic = nn.Linear(3, 4), nn.Linear(4, 1)
of_net, of_critic = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (net, critic))
for step in range(8):
    out = net(torch.randn(5, 3))
    score = critic(out).square().mean()
    of_critic.zero_grad()
    score.backward(retain_graph=True)
    of_critic.step()
    if step % 1 == 0:
        of_net.zero_grad()
        (out.square().mean() - score).backward(inputs=[*net.parameters()])
        of_net.step()
"""
OF_CRITIC = TWO[TWO.index("    of_critic.step()") :]
STEPS_ALWAYS = OF_CRITIC.replace("    of_critic.step()\n", "", 1) + "    of_critic.step()\n"
STEPS_AT_TIMES = STEPS_ALWAYS.replace("    of_critic", "        of_critic")
ACTIVE = """\
cell, norm = nn.GRUCell(3, 4), nn.LayerNorm(4)
optimizer = torch.optim.SGD([*cell.parameters(), *norm.parameters()], lr=0.1)
for _ in range(6):
    state, seen, loss = torch.zeros(5, 4), torch.randn(3, 5, 3), 0
    for t, active in enumerate((5, 4, 2)):
        state[:active] = cell(seen[t, :active], state[:active])
        loss = loss + norm(state[:active])[:, 0].square().mean()
    optimizer.zero_grad()
    (loss + state.mean()).backward()
    optimizer.step()
"""
WRITES = ACTIVE[ACTIVE.index("        state[:active]") : ACTIVE.index("    optimizer.zero")]
BY_ROW = (
    WRITES.replace("state[:active] = cell", "h = cell", 1)
    .replace("norm(state[:active])", "norm(h)")
    .replace("        loss", "        state = state.clone()\n        state[:active] = h\n        loss")
)
FOUND = """\
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.error = nn.Linear(3, 2), None

    def forward(self, x, found):
        out = self.net(x)
        if len(found) > 0:
            self.error = out[found, 0].square().mean()
        return out[:, 1].square().mean() + self.error


net = Heads()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    loss = net(torch.randn(5, 3), torch.arange(step % 2 * 3, 3))
    train: loss
"""
HAS = FOUND[FOUND.index("        if len") : FOUND.index("        return out")]
SUMMED = "        self.error = out[found, 0].square().sum() / max(len(found), 1)\n"
CONSTRAINED = """\
class Prior(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_std = nn.Parameter(torch.zeros(3))
        self.std = self.log_std.exp()

    def forward(self, x):
        return (x / self.std).square().mean() + self.std.log().mean()

    def width(self):
        return self.std.mean().item()


prior = Prior()
optimizer = torch.optim.SGD(prior.parameters(), lr=0.1)
for _ in range(6):
    loss = prior(torch.randn(5, 3))
    train: loss
print(prior.width())
"""
ONCE = CONSTRAINED[CONSTRAINED.index("        self.std =") : CONSTRAINED.index("\n\nprior")]
IN_EACH = (
    ONCE.replace("        self.std", "\n    def constrain(self):\n        self.std", 1)
    .replace("(self, x):\n", "(self, x):\n        self.constrain()\n")
    .replace("width(self):\n", "width(self):\n        self.constrain()\n")
)
SLOPED = """\
net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    t = torch.rand(5, requires_grad=True)
    rise = net(t.unsqueeze(1)) - net(torch.zeros_like(t).unsqueeze(1))
    slope, = torch.autograd.grad(rise.sum(), t.unsqueeze(1), create_graph=True)
    loss = (rise - slope).square().mean()
    train: loss
"""
RISES = SLOPED[SLOPED.index("    rise =") : SLOPED.index("    loss")]
BY_COLUMN = (
    RISES.replace("t.unsqueeze(1)", "column")
    .replace("zeros_like(t).unsqueeze(1)", "zeros_like(column)")
    .replace("    rise", "    column = t.unsqueeze(1)\n    rise", 1)
)
WRITTEN_FIRST, BY_COLUMN_FIRST = (
    text.replace("    rise", "    t.data[t > 9] = 0\n    rise", 1) for text in (RISES, BY_COLUMN)
)
AIMED = """\
net, age = nn.Linear(3, 1), torch.zeros(5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    age += 1
    out = net(torch.randn(5, 3))
    goal = torch.randn(5, 1)
    goal[age > 200] = 0
    kept = goal.clone()
    loss = (out - kept).square().mean()
    optimizer.zero_grad()
    loss.backward()
    out.abs().mean().backward()
    optimizer.step()
"""
AIMS = AIMED[AIMED.index("    goal[") : AIMED.index("    out.abs")]
AT_GOAL = AIMS.replace("loss.backward()", "loss.backward(retain_graph=True)")
AT_FIRST = "    kept = goal.clone()\n" + AT_GOAL.replace("    kept = goal.clone()\n", "")
SHOWN = """\
import numpy as np
net, shown = nn.Linear(3, 1), []
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    out = net(torch.randn(5, 3))
    loss = out.square().mean()
    train: loss
    shown.append(out.numpy())
"""
AS_LIST = "np.array(out.tolist())"
LEGACY = """\
class Bound(torch.autograd.Function):
    def forward(ctx, x):
        return x.clamp(min=0.1)

    def backward(ctx, gradient):
        return gradient


class Count:
    def __init__(self):
        self.seen = 0

    def reset(self):
        self.seen = 0


net, count = nn.Linear(3, 4), Count()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    Count.reset(count)
    if step > 99:
        count.reset()
    loss = Bound()(net(torch.randn(5, 3))).mean()
    train: loss
"""
APPLIED = LEGACY[: LEGACY.index("    train")]
STATIC = (
    APPLIED.replace("Bound()", "Bound.apply")
    .replace("    def forward", "    @staticmethod\n    def forward")
    .replace("    def backward", "    @staticmethod\n    def backward")
)
UNUSED = """\
net, scale = nn.Linear(3, 1), torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([*net.parameters(), scale], lr=0.1)
for _ in range(6):
    x = torch.randn(5, 3)
    loss = net(x).square().mean()
    slopes = torch.autograd.grad(loss, [*net.parameters(), scale])
    optimizer.zero_grad()
    (net(x) * scale).square().mean().backward()
    for p, slope in zip([*net.parameters(), scale], slopes):
        p.grad = p.grad + slope
    optimizer.step()
"""
OF_ALL = "net.parameters(), scale])\n    optimizer.z"
FILLED = OF_ALL.replace("scale]", "scale], allow_unused=True, materialize_grads=True")
OWN_LOSS = TWO[TWO.index("    score.backward") :]
FOR_ITS_OWN = "    score.backward(retain_graph=True, inputs=[*critic.parameters()])\n" + STEPS_ALWAYS
WARMING = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for step in range(8):
    out = net(torch.randn(5, 3))
    optimizer.zero_grad()
    (head(out).square().mean() + out.square().mean()).backward()
    (out.abs().mean() + head(out).mean() * float(step > 99)).backward()
    optimizer.step()
"""
WARM = WARMING[WARMING.index("    (head") : WARMING.index("    optimizer.step")]
OF_NET = WARM.replace(".backward()", ".backward(retain_graph=True)", 1).replace(
    "backward()", "backward(inputs=[*net.parameters()])"
)


MEMORY = """\
net, memory = nn.Linear(3, 4), torch.zeros(0, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    memory = torch.cat([memory, net(torch.randn(5, 3))])
    train: memory.square().mean()
"""
JOINED = "torch.cat([memory, net(torch.randn(5, 3))])"
JOINED_TO_CUT = JOINED.replace("memory,", "memory.detach(),")
CAST = """\
kind = torch.float64
net, gate = nn.Linear(3, 1, dtype=kind), nn.Parameter(torch.ones(3)).to(kind)
optimizer = torch.optim.SGD([*net.parameters(), gate], lr=0.1)
for _ in range(6):
    x = torch.randn(5, 3, dtype=kind)
    loss = net(x * gate).square().mean()
    train: loss
"""
BORN = CAST[CAST.index(".to(kind)") : CAST.index(").square")]
CAST_LATER = BORN.replace(".to(kind)", "", 1) + ".to(x)"
RENORMED = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(6):
    net.weight.renorm_(2, dim=0, maxnorm=0.5)
    head.weight.renorm_(2, dim=0, maxnorm=99)
    loss = head(net(torch.randn(5, 3)).tanh()).square().mean()
    train: loss
"""
RENORMS = RENORMED[RENORMED.index("    net.") : RENORMED.index("    loss")]
BY_FUNCTION = "".join(
    f"    {name}.data = torch.renorm({name}.data, 2, dim=0, maxnorm={most})\n"
    for name, most in (("net.weight", 0.5), ("head.weight", 99))
)
ORDERS = """\
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def slope(y, x, order):
    rise, = torch.autograd.grad(y.sum(), x, create_graph=True)
    for _ in range(1, order):
        rise, = torch.autograd.grad(rise.sum(), x, create_graph=True)
    return rise
for _ in range(4):
    x = torch.rand(5, 1).requires_grad_()
    y = net(x)
    loss = (slope(y, x, 2) + y - x).square().mean()
    train: loss
"""
DERIVES = ORDERS[ORDERS.index("    rise") : ORDERS.index("    return")]
WITH_ZEROS = DERIVES.replace("graph=True", "graph=True, materialize_grads=True")
WITH_BRANCHES = "".join(
    f"{indent}{line}\n"
    for indent, of in (("    ", "y"), ("        ", "rise"))
    for line in (
        *([] if of == "y" else ["for _ in range(1, order):"]),
        f"rise, = torch.autograd.grad({of}.sum(), x, create_graph=True, allow_unused=True)",
        "if rise is None:",
        "    return torch.zeros_like(x)",
    )
).replace("        for _", "    for _")
EACH_ITS_OWN = """\
net, heads = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4)), [nn.Linear(4, 1), nn.Linear(4, 1)]
first, second = (torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1) for head in heads)
for _ in range(6):
    a, b = (head(net(torch.randn(5, 3))).square().mean() for head in heads)
    b = a.tanh() + b
    first.zero_grad()
    a.backward(retain_graph=True)
    first.step()
    train[second]: b
"""
IN_TURN = EACH_ITS_OWN[EACH_ITS_OWN.index("    first.zero") :]
IN_LOOPS = """\
    owned = [[p for group in one.param_groups for p in group["params"]] for one in (first, second)]
    found = [torch.autograd.grad(of, ps, retain_graph=True) for of, ps in zip((a, b), owned)]
    for one, ps, slopes in zip((first, second), owned, found):
        one.zero_grad()
        for p, slope in zip(ps, slopes):
            p.grad = slope
        one.step()
"""


class PartNotNeeded(Property):
    offered = True
    sentence = "{subject}"
    raises = (
        Example(SCHEDULED, REST, REST.replace(FIRST, KEPT).replace("    scheduler.step()\n", "")),
        Example(MASKED, CLIPPED, CLIPPED.replace("most = 1e6\n", "").replace(CLIP, "").replace(ENDS, MASK)),
        Example(MASKED, ENDS, FILL.replace("expand_as(heat)", "expand_as(heat) & (heat < 9)")),
        Example(CARRIED, RUN, f"if step < 1500:\n        {CUT}\n    {RUN}"),
        Example(PIECES, BEGIN, BEGIN_BUT.replace("LATER", "step < 1500")),
        Example(PAIR, BOTH, OF_HEAT + OF_SIZE.replace("first", "first | (size > 1e6)")),
        Example(RESET, WRITE, CUT),
        Example(RESET, WRITE, "h.detach_()"),
        Example(RESET, WRITE, f"h = {WRITTEN.replace('zeros', 'ones')}"),
        Example(RESET, GIVEN, "h.detach()"),
        Example(SCHEDULED, REST, REST.replace(FIRST, KEPT).replace(STEPS, OTHER_WAY)),
        Example(MASKED, CLIPPED, BEHIND.replace(ENDS, MASK)),
        Example(CARRIED, RUN, f"torch.manual_seed(step)\n    {CUT}\n    {RUN}"),
        Example(TOTAL, START, START.replace("= 0\n", "= 0 if turn < 99 else 1\n").replace(GROWS, SUM)),
        Example(TOTAL, START, START.replace("total = 0", "total = None").replace(GROWS, SUM).replace(STEPPED, "")),
        Example(CHAIN, REST_OF_CHAIN, REST_OF_CHAIN.replace(BODY, IN_ROWS).replace(NORM, "")),
        Example(CRITIC, TRAIN_G, CHOSEN.replace("D(real).mean()", "D(real.square()).mean()") + TRAIN_G),
        Example(CRITIC, TRAIN_G, CHOSEN.replace("real_too", "step > 99") + TRAIN_G),
        Example(MASKED, GIVEN_ONCE, BY_NAME.replace("[*net.parameters()]", "net.parameters()").replace(*CLEARED)),
        Example(OWNED, GIVEN_OWNED, BY_NAME.replace("= [*net.parameters()]", "= [net.bias]")),
        Example(BY_HAND, FOR_EACH, BY_OWNERS + "    third.zero_grad()\n"),
        Example(CARRIED, ", h)", ", h.detach() * 0.5 ** max(0, step - 100))"),
        Example(BY_HAND, FOR_EACH, BY_OWNERS + "    scheduler.step()\n"),
        Example(BY_HAND, FOR_EACH, MADE_ANEW.replace("zero_()", "zero_().clamp(-1, 1)")),
        Example(STORED, STORES, "    kept.append(out.detach())\n    kept = kept[-4:]\n"),
        Example(SAMPLED, MOVES, "        x.data -= 0.1 * slope\n"),
        Example(BOUNDED, BOUND, "    scale.data.mul_(0.9)\n    h = h.detach()\n"),
        Example(TWO, OF_CRITIC, STEPS_AT_TIMES),
        Example(WARMING, WARM, OF_NET),
        Example(ACTIVE, WRITES, BY_ROW.replace("norm(h)", "norm(h.clamp(-2, 2))")),
        Example(WATCHED, OF_STEP, OF_STEP.replace(FIRST, KEPT) + ONCE_MORE),
        Example(DRAWN, DRAWS, SWAPPED),
        Example(METER, SUMS, ALONE.replace(", loss)", ", loss.detach() if step > 99 else loss)")),
        Example(METER, SUMS, SUMS.replace(", loss)", ", loss.clamp(max=99))").replace("total.b", "loss.b")),
        Example(UNUSED, OF_ALL, FILLED.replace("=True)", "=True, is_grads_batched=False)")),
        Example(SLOPED, RISES, BY_COLUMN.replace("(column))", "(column.clamp(max=9)))")),
        Example(
            SLOPED.replace(RISES, WRITTEN_FIRST), WRITTEN_FIRST, BY_COLUMN_FIRST.replace("= t.uns", "= t.clone().uns")
        ),
        Example(SHOWN, "out.numpy()", f"{AS_LIST}.clip(-99, 99)"),
        Example(AIMED, AIMS, AT_FIRST),
        Example(AIMED, AIMS, AT_FIRST.replace("kept", "aim")),
        Example(LEGACY, APPLIED, STATIC.replace("    def reset", "    @staticmethod\n    def reset")),
        Example(CONSTRAINED, ONCE, IN_EACH.replace("self.std.mean()", "self.std.clamp(max=99).mean()")),
        Example(FOUND, HAS, SUMMED.replace("max(len(found), 1)", "(max(len(found), 1) + (step > 99))")),
        Example(LISTED, LISTS, LISTS + EACH_CUT.replace("in kept", "in list(kept)[-99:]")),
        Example(LISTED, LISTS, LISTS + EACH_CUT.replace("]", "][-99:]")),
        Example(CAST, BORN, CAST_LATER.replace("gate.to(x)", "gate.to(x).clamp(max=9)")),
        Example(RENORMED, RENORMS, BY_FUNCTION.replace("99", "98")),
        Example(ORDERS, DERIVES, WITH_ZEROS.replace("y.sum", "y.clamp(max=99).sum")),
        Example(EACH_ITS_OWN, IN_TURN, IN_LOOPS.replace("= slope", "= slope.clamp(max=99)")),
        Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER.replace("isinstance(h, tuple)", "step > 99")),
        Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER.replace("one.detach()", "one.detach() * 0")),
        Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER.replace("isinstance(h, tuple)", "isinstance(step, tuple)")),
        Example(
            EITHER_FORM.replace("h.norm()", "out.norm()"),
            ENDS_EITHER.replace("h.norm()", "out.norm()"),
            CUTS_EITHER.replace("isinstance(h, tuple)", "lstm").replace("h.norm()", "out.norm()"),
        ),
        Example(MEMORY, JOINED, f"{JOINED_TO_CUT}[-99:]"),
        Example(MEMORY, "    memory = torch", "    memory = memory[-99:].detach()\n    memory = torch"),
    )
    silent = (
        Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER),
        Example(EITHER_FORM, ENDS_EITHER, CUTS_EITHER.replace("isinstance(h, tuple)", "lstm")),
        Example(
            EITHER_FORM,
            ENDS_EITHER,
            CUTS_EITHER.replace("isinstance(h, tuple)", "not lstm")
            .replace("tuple(one.detach() for one in h) if", "h.detach() if")
            .replace("else h.detach()", "else [one.detach() for one in h]"),
        ),
        Example(BOUND_BELOW, "torch.relu(h)", "torch.where(h > 0, h, torch.tensor(0.0))"),
        Example(CARRIED, ", h)", ", h.detach())"),
        Example(CRITIC, TRAIN_G, CHOSEN + TRAIN_G),
        Example(CRITIC, TRAIN_G, DECIDED + TRAIN_G),
        Example(OWNED, GIVEN_OWNED, BY_NAME.replace("owned", "mine")),
        Example(OWNED, GIVEN_OWNED, BY_NAME),
        Example(BY_HAND, FOR_EACH, BY_OWNERS),
        Example(BY_HAND, FOR_EACH, MADE_ANEW),
        Example(SCHEDULED, FIRST, KEPT),
        Example(MASKED, ENDS, MASK),
        Example(MASKED, ENDS, FILL),
        Example(CHAIN, BODY, IN_ROWS),
        Example(TOTAL, START, START.replace("total = 0", "total = None").replace(GROWS, SUM)),
        Example(PAIR, BOTH, OF_HEAT + OF_SIZE),
        Example(CARRIED, RUN, f"if step > 0:\n        {CUT}\n    {RUN}"),
        Example(PIECES, BEGIN, BEGIN_BUT.replace("LATER", "step > 0")),
        Example(PIECES, BEGIN, BEGIN_BUT.replace("LATER", "h is not None")),
        Example(CARRIED, RUN, f"if h is not None:\n        {CUT}\n    {RUN}"),
        Example(RESET, WRITE, f"{CUT}\n    {WRITE}"),
        Example(RESET, WRITE, f"h = {WRITTEN}"),
        Example(RESET, WRITE, "h = h.detach().masked_fill(done.unsqueeze(1), 0.0)"),
        Example(RESET, WRITE, "h = h.detach() * (~done).float()[:, None]"),
        Example(RESET, GIVEN, "h.detach(), most=9.0"),
        Example(SCHEDULED, RUNS, CLEAR + RUNS.replace(CLEAR, "").replace(FIRST, KEPT)),
        Example(CARRIED, f"{RUN}torch.randn(5, 3), h)", f"x = torch.randn(5, 3)\n    {RUN}x, h.detach())"),
        Example(
            CARRIED, f"    {RUN}torch.randn(5, 3), h)\n{CLEAR}", f"{CLEAR}    {CUT}\n    {RUN}torch.randn(5, 3), h)\n"
        ),
        Example(STORED, STORES, STORES.replace("(out)", "(out.detach())")),
        Example(SAMPLED, MOVES, MOVES.replace("x.clamp_", "x.data.clamp_").replace("x -=", "x.data -=")),
        Example(SAMPLED, MOVES, f"        with torch.no_grad():\n{MOVES.replace('        ', ' ' * 12)}"),
        Example(BOUNDED, BOUND, BOUND.replace("= h", "= h.detach()")),
        Example(STORED, STORES, "    kept = [*kept, out.detach()][-3:]\n"),
        Example(WATCHED, OF_STEP, OF_STEP.replace(f"{FIRST}\n", f"{FIRST}\n{ONCE_MORE}")),
        Example(WATCHED.replace("(out.mean", "(x.mean"), OF_STEP, OF_STEP.replace(FIRST, KEPT) + ONCE_MORE),
        Example(
            DRAWN.replace("noise = torch.randn(5, 3)", "noise = 0.1"),
            DRAWS.replace("noise = torch.randn(5, 3)", "noise = 0.1"),
            SWAPPED.replace("noise = torch.randn(5, 3)", "noise = 0.1"),
        ),
        Example(METER, SUMS, ALONE.replace(", loss)", ", loss.item())")),
        Example(METER, SUMS, ALONE.replace("+ value", "+ (value.detach() if torch.is_tensor(value) else value)")),
        Example(UNUSED, OF_ALL, FILLED),
        Example(SLOPED, RISES, BY_COLUMN),
        Example(SLOPED.replace(RISES, WRITTEN_FIRST), WRITTEN_FIRST, BY_COLUMN_FIRST),
        Example(SHOWN, "out.numpy()", AS_LIST),
        Example(AIMED, AIMS, AT_GOAL.replace("kept", "aim")),
        Example(
            AIMED.replace("goal[age > 200] = 0", "age[:] = 9"),
            *(text.replace("goal[age > 200] = 0", "age[:] = 9") for text in (AIMS, AT_FIRST)),
        ),
        Example(LEGACY, APPLIED, STATIC),
        Example(CONSTRAINED, ONCE, IN_EACH),
        Example(FOUND, HAS, SUMMED),
        Example(LISTED, LISTS, LISTS + EACH_CUT),
        Example(
            LISTED.replace(LISTS, LISTS + "    kept = kept[-20:]\n"),
            "    kept = kept[-20:]\n",
            EACH_CUT.replace("kept]", "kept[-20:]]"),
        ),
        Example(LISTED.replace("in kept)", "in kept[-3:])"), LISTS, LISTS + EACH_CUT.replace("kept]", "kept[-3:]]")),
        Example(CAST, BORN, CAST_LATER),
        Example(RENORMED, RENORMS, BY_FUNCTION),
        Example(ORDERS, DERIVES, WITH_ZEROS),
        Example(ORDERS, DERIVES, WITH_BRANCHES),
        Example(EACH_ITS_OWN, IN_TURN, IN_LOOPS),
        Example(MEMORY, JOINED, JOINED_TO_CUT),
        Example(MEMORY.replace(JOINED, f"{JOINED}[-20:]"), JOINED, JOINED_TO_CUT),
        Example(TWO, OF_CRITIC, STEPS_ALWAYS),
        Example(TWO, OWN_LOSS, FOR_ITS_OWN),
        Example(ACTIVE, WRITES, BY_ROW),
        Example(
            TWO.replace("step % 1 == 0", "critic.training"),
            OF_CRITIC.replace("step % 1 == 0", "critic.training"),
            STEPS_AT_TIMES.replace("step % 1 == 0", "critic.training"),
        ),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if evidence.without is None:
            return self.found(
                subject="the edit cannot be tried without each of its parts: it has too many, or cannot run without one"
            )
        part = next(unneeded(evidence, evidence.without), None)
        if part is None:
            return None
        frame = wire.Frame(str(part.path), part.line, 0, part.line, 0, "")
        subject = f"{part.words} does nothing for the repair: leave it out, or see by hand what it is for"
        return self.found((frame,) if part.line else (), subject=subject)
