"""What runs witness is enough to be believed: each kind of fault once as a right edit and once as a wrong one."""

from __future__ import annotations

import pytest
from sampled import one_in
from scripts import Scripts

from autofix.core.model import Applicability, Effect, Outcome
from autofix.experiments import requests

pytestmark = pytest.mark.torch
Edit = tuple[tuple[str, str], ...]

HEAD = """
import copy
import torch
from torch import nn

torch.manual_seed(0)
"""

# A write that no gradient shows --------------------------------------------------------------------------------------

AVERAGED = f"""{HEAD}
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
average = [p.detach().clone() for p in net.parameters()]
opt = torch.optim.SGD(net.parameters(), lr=0.1)
held_out = torch.randn(6, 4)
for step in range(6):
    out = net(torch.randn(8, 4))
    opt.zero_grad()
    out.square().mean().backward()
    (out - 1).abs().mean().backward()
    opt.step()
    with torch.no_grad():
        for a, p in zip(average, net.parameters()):
            a.mul_(0.8).add_(p, alpha=0.2)
        kept = [p.clone() for p in net.parameters()]
        for p, a in zip(net.parameters(), average):
            p.copy_(a)
        score = net(held_out).mean()
        for p, k in zip(net.parameters(), kept):
            p.copy_(k)
"""
KEEP = ("out.square().mean().backward()", "out.square().mean().backward(retain_graph=True)")

SENT = f"""{HEAD}
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("size", torch.ones(4))
        self.lin = nn.Linear(4, 2)

    def forward(self, x):
        return self.lin(x * self.size)


master, worker = Scale(), Scale()
opt = torch.optim.SGD(master.parameters(), lr=0.1)
for step in range(6):
    out = master(torch.randn(8, 4))
    opt.zero_grad()
    out.square().mean().backward()
    (out - 1).abs().mean().backward()
    opt.step()
    with torch.no_grad():
        master.size.mul_(0.9)
        for mine, theirs in zip(worker.buffers(), master.buffers()):
            mine.copy_(theirs)
        print(tuple(worker(torch.zeros(1, 4)).shape))
"""

CLIMBING = f"""{HEAD}
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    x = torch.randn(16, 4)
    out = net(x)
    opt.zero_grad()
    (out - 1).square().mean().backward()
    with torch.no_grad():
        start = [p.clone() for p in net.parameters()]
        for p in net.parameters():
            p.add_(p.grad, alpha=0.1)
    opt.zero_grad()
    (out - 1).abs().mean().backward()
    with torch.no_grad():
        for p, s in zip(net.parameters(), start):
            p.copy_(s)
    opt.step()
"""
AGAIN = ("    (out - 1).abs()", "    (net(x) - 1).abs()")

# What is computed anew ------------------------------------------------------------------------------------------------

PROBED = f"""{HEAD}
encoder, head = nn.Linear(4, 8), nn.Linear(8, 1)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
data = torch.randn(12, 4)
features = encoder(data).tanh()
for step in range(6):
    loss = (head(features) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
ANEW = (
    ("features = encoder(data).tanh()\n", ""),
    ("    loss = (head", "    features = encoder(data).tanh()\n    loss = (head"),
)

MIXING = f"""{HEAD}
mix = nn.Parameter(torch.randn(4, 4))
head = nn.Linear(4, 1)
opt = torch.optim.SGD([mix, *head.parameters()], lr=0.1)
data = torch.randn(12, 4)
features = (mix + torch.eye(4)).softmax(1)
for step in range(6):
    loss = (head(data @ features) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
MIXED_ANEW = (
    ("features = (mix + torch.eye(4)).softmax(1)\n", ""),
    ("    loss = (head", "    features = (mix + torch.eye(4)).softmax(1)\n    loss = (head"),
)
ANCHORED = MIXING.replace("data = ", "kept = head.weight.detach().clone()\ndata = ").replace(
    "mean()\n", "mean() + 0.05 * (head.weight - kept).square().sum()\n"
)
WHOLE = PROBED.replace("for step", "loss = (head(features) - 1).square().mean()\nfor step").replace(
    "range(6):\n    loss = (head(features) - 1).square().mean()\n", "range(6):\n"
)
WHOLE_ANEW = (
    ("features = encoder(data).tanh()\nloss = (head(features) - 1).square().mean()\n", ""),
    ("    opt.zero_grad()", "    loss = (head(encoder(data).tanh()) - 1).square().mean()\n    opt.zero_grad()"),
)

SLOW = f"""{HEAD}
maker, critic = nn.Linear(3, 3), nn.Linear(3, 1)
opt_m, opt_c = (torch.optim.SGD(net.parameters(), lr=1e-6) for net in (maker, critic))
for step in range(6):
    made = maker(torch.randn(8, 3))
    score = critic(made)
    opt_c.zero_grad()
    score.square().mean().backward()
    opt_c.step()
    loss = (1 - score).square().mean() + made.abs().mean()
    opt_m.zero_grad()
    loss.backward()
    opt_m.step()
"""
KEEP_SCORE = ("score.square().mean().backward()", "score.square().mean().backward(retain_graph=True)")
SCORED_ANEW = ("    loss = ", "    score = critic(made)\n    loss = ")

CACHED = f"""{HEAD}
raw = nn.Parameter(torch.randn(4, 4))
rest = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD([raw, *rest.parameters()], lr=0.1)
weight = raw / raw.norm(dim=1, keepdim=True)
for step in range(5):
    x = torch.randn(8, 4) @ weight
    loss = (rest(x + torch.tanh(x @ weight)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
MADE_ONCE = "weight = raw / raw.norm(dim=1, keepdim=True)\n"
AT_EACH_USE = (
    (MADE_ONCE, "def weight():\n    return raw / raw.norm(dim=1, keepdim=True)\n"),
    ("4) @ weight", "4) @ weight()"),
    ("(x @ weight)", "(x @ weight())"),
)

# Updates by hand ------------------------------------------------------------------------------------------------------

BY_HAND = f"""{HEAD}
W = torch.randn(3, 3, requires_grad=True)
V = torch.randn(3, 1, requires_grad=True)
for step in range(6):
    made = torch.randn(8, 3) @ W
    score = made @ V
    score.square().mean().backward()
    V.data -= 0.1 * V.grad
    V.grad = None
    ((1 - score).square().mean() + made.abs().mean()).backward()
    W.data -= 0.1 * W.grad
    W.grad = V.grad = None
"""
BY_HAND_ANEW = ("    ((1 - score)", "    score = made @ V\n    ((1 - score)")

# How parameters start -------------------------------------------------------------------------------------------------

TABLE = f"""{HEAD}
table = torch.linspace(-1, 1, 24).view(6, 4)
embed, head = nn.Embedding(6, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)
embed.weight[:] = table
for step in range(5):
    loss = (head(embed(torch.randint(0, 6, (8,)))) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
WRITE = "embed.weight[:] = table"
MADE = "opt = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)\n"

NORMED = TABLE.replace("embed.weight[:] = table\n", "").replace(
    "    loss = ", "    size = embed.weight.norm(dim=1, keepdim=True)\n    embed.weight.div_(size)\n    loss = "
)
SIZE = "    size = embed.weight.norm(dim=1, keepdim=True)\n"
DIVIDED = "    embed.weight.div_(size)\n"
QUIET_NORM = "    with torch.no_grad():\n        embed.weight.div_(embed.weight.norm(dim=1, keepdim=True))\n"
COPIED_NORM = "    with torch.no_grad():\n        embed.weight.copy_(embed.weight / size)\n"

# Weights that are kept in a set ---------------------------------------------------------------------------------------

CLAMPED = f"""{HEAD}
class Monotone(nn.Linear):
    def forward(self, x):
        with torch.no_grad():
            self.weight.clamp_(min=0)
        return super().forward(x)


first, net, beside, last = nn.Linear(4, 4), Monotone(4, 6), nn.Linear(4, 6), nn.Linear(6, 1)
nn.init.zeros_(last.weight)
parameters = [*first.parameters(), *net.parameters(), *beside.parameters(), *last.parameters()]
opt = torch.optim.SGD(parameters, lr=0.3)
best = net.weight.detach().clone()
for step in range(6):
    a, b = net(first(torch.randn(8, 4))), net(first(torch.randn(8, 4)))
    loss = (a - b - 1).square().mean() + last(beside(torch.randn(8, 4))).square().mean()
    opt.zero_grad()
    (loss + last.bias.sum()).backward()
    opt.step()
net.weight.data.copy_(best)
"""
IN_FORWARD = "        with torch.no_grad():\n            self.weight.clamp_(min=0)\n"
FINISHED = ("net.weight.data.copy_(best)\n", "")
KEPT = "net.weight.data.clamp_(min=0)"
BEFORE = (IN_FORWARD, ""), ("    a, b =", f"    {KEPT}\n    a, b =")
AFTER = (IN_FORWARD, ""), ("best =", f"{KEPT}\nbest ="), ("    opt.step()\n", f"    opt.step()\n    {KEPT}\n")
RESTORED = f"""{HEAD}
net, x = nn.Linear(4, 1), torch.randn(8, 4)
nn.init.ones_(net.weight)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
moved = net.weight.detach().ne(1).any()
for step in range(8):
    loss = (net(x) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    if step == 2:
        kept = [p.detach().clone() for p in net.parameters()]
    if step == 3 or (step == 5 and moved):
        for p, good in zip(net.parameters(), kept):
            p.copy_(good)
    opt.step()
"""
SHARED = f"""{HEAD}
net = nn.Linear(4, 6)
rows = net.bias.view(2, 3)
rows[:, 2] += 1.5
net.bias = nn.Parameter(rows.view(-1), requires_grad=True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    loss = (net(torch.randn(8, 4)) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

# What an optimizer is given ------------------------------------------------------------------------------------------

SHOWN = f"""{HEAD}
class Shown(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.head = nn.Linear(4, 6), nn.Linear(6, 1)

    def shown(self):
        return [self.lin.weight.t(), self.lin.bias, self.head.weight.t()]

net = Shown()
opt = torch.optim.SGD(net.shown(), lr=0.1)
for step in range(5):
    loss = (net.head(torch.tanh(net.lin(torch.randn(8, 4)))) - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
GIVEN = "net.shown(), lr=0.1"
TWO_GROUPS = "[{'params': net.head.weight, 'lr': 0.1001}, {'params': net.lin.parameters()}], lr=0.1"
FLIPPED = "[net.head.weight, net.lin.weight, net.lin.bias], lr=0.1"

# A phase and the next -------------------------------------------------------------------------------------------------

PHASES = f"""{HEAD}
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
first, second = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD(net[2].parameters(), lr=0.1)
for step in range(3):
    first.zero_grad()
    net(torch.randn(8, 4)).square().mean().backward()
    first.step()
for step in range(5):
    hidden = net[:2](torch.randn(8, 4))
    hidden += 1
    (net[2](hidden) - 1).square().mean().backward()
    second.step()
    second.zero_grad()
"""
OUT_OF_PLACE = ("hidden += 1", "hidden = hidden + 1")
TURNS = PHASES.replace("for step in range(5):\n", "").replace("    second.zero_grad()\n", "")

# Draws that move ------------------------------------------------------------------------------------------------------

DRAWING = f"""{HEAD}
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
state = torch.zeros(8, 4)
for step in range(6):
    state = state + torch.randn(8, 4)
    noise = 0.1 * torch.randn(8, 1)
    out = net(state) + noise
    opt.zero_grad()
    out.square().mean().backward()
    (out - 1).abs().mean().backward()
    opt.step()
"""
NOISE = "    noise = 0.1 * torch.randn(8, 1)\n"
KEEP_OUT = ("out.square().mean().backward()", "out.square().mean().backward(retain_graph=True)")

# Derivatives that become gradients ------------------------------------------------------------------------------------

PROJECTED = f"""{HEAD}
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
weights = list(net.parameters())
opt = torch.optim.Adam(weights, lr=0.05)
for step in range(6):
    out = net(torch.randn(8, 4))
    first = torch.autograd.grad(out[:, 0].square().mean(), weights)
    second = torch.autograd.grad((out[:, 1] - 1).square().mean(), weights)
    for p, a, b in zip(weights, first, second):
        p.grad = a + b.clamp(-1, 1)
    opt.step()
    print(float(out.sum()))
"""
KEEP_FIRST = ("out[:, 0].square().mean(), weights)", "out[:, 0].square().mean(), weights, retain_graph=True)")
PROJECTED_BY_HAND = PROJECTED.replace("p.grad = a + b.clamp(-1, 1)", "p.data -= 0.1 * (a + b)").replace(
    "    opt.step()\n", ""
)
PENALISED = f"""{HEAD}
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(6):
    x = torch.randn(8, 4, requires_grad=True)
    out = net(x)
    slope = torch.autograd.grad(out.sum(), x)[0]
    loss = (out - 1).square().mean() + slope.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

INLINE = ((NOISE, ""), ("+ noise", "+ 0.1 * torch.randn(8, 1)"))
IN_A_FUNCTION = (
    (NOISE, "    noise = drawn()\n"),
    ("state = torch.zeros", "def drawn():\n    return 0.1 * torch.randn(8, 1)\n\n\nstate = torch.zeros"),
)
BEFORE_THE_LOOP = ((NOISE, ""), ("state = torch.zeros", "noise = 0.1 * torch.randn(8, 1)\nstate = torch.zeros"))
LEAF = PROBED.replace("randn(12, 4)", "randn(12, 4, requires_grad=True)")
CUT = ("    loss = ", "    score = critic(made.detach())\n    loss = ")
CUT_BY_HAND = ("    ((1 - score)", "    score = made.detach() @ V\n    ((1 - score)")
QUIETLY = "with torch.no_grad():\n    "

SOLVED = """
import torch

torch.manual_seed(0)
P, Q = (torch.nn.Parameter(torch.randn(*shape)) for shape in ((3, 4), (2, 4)))
optimizer = torch.optim.Adam([P, Q], lr=0.1)
for epoch in range(5):
    if epoch < 2:
        P[0] = (torch.ones(2, 4) * Q).sum(0)
        Q[0] = (torch.ones(3, 4) * P).sum(0)
    loss = (P @ Q.t() - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MASKED = f"""{HEAD}
class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.value = nn.Linear(4, 4), nn.Linear(4, 4)
        self.register_buffer("mask", torch.triu(torch.full((5, 5), -torch.inf), 1))

    def forward(self, x):
        return (self.query(x) @ x.mT + self.mask).softmax(-1) @ self.value(x)


net = Attend()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    out = net(torch.randn(2, 5, 4))
    opt.zero_grad()
    out.square().mean().backward()
    (out - 1).abs().mean().backward()
    opt.step()
"""
UNMASKED = ("    opt.step()\n", "    opt.step()\nnet.mask[0, 1] = 0.0\n")
FIGURES = """
import torch

w = torch.linspace(-1, 1, 5).requires_grad_()
for step in range(4):
    out = (w * 3e-5).exp()
    first = torch.autograd.grad(out.sum(), w)[0]
    second = torch.autograd.grad(out.square().sum(), w)[0]
    print(f"{float(first.norm()):.3e} {float(second.norm()):.3e}")
"""
OF_Q, OF_P = "P[0] = (torch.ones(2, 4) * Q).sum(0)", "Q[0] = (torch.ones(3, 4) * P).sum(0)"
BY_DATA = (OF_Q, OF_Q.replace("P[0]", "P.data[0]")), (OF_P, OF_P.replace("Q[0]", "Q.data[0]"))
UNRESTORED = CLAMPED.replace(*FINISHED)
# What torch refuses, or computes otherwise, where runs look ---------------------------------------------------------

LIMITED = f"""{HEAD}
net = nn.Linear(4, 1)
net.size = nn.Parameter(torch.tensor(1.55))
opt = torch.optim.AdamW(net.parameters(), lr=0.02)
for step in range(8):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = net(torch.randn(8, 4)) * net.size
    opt.zero_grad()
    (out.float().square().mean() - net.size).backward()
    opt.step()
    net.size = net.size.clamp(0, 1.6)
"""
LIMIT = "net.size = net.size.clamp(0, 1.6)"

CURVED = f"""{HEAD}
net, value = nn.Linear(4, 2), nn.Linear(4, 1)
net.size = nn.Parameter(torch.zeros(2))
own = list(net.parameters())
opt = torch.optim.SGD(value.parameters(), lr=0.1)
for step in range(6):
    x = torch.randn(8, 4)
    with torch.no_grad():
        old, size = net(x), net.size.expand(8, 2)
    kl = (net(x) - old).square().mean() + net.size.exp().sum()
    slope = torch.autograd.grad(kl, own)
    curve = torch.autograd.grad(sum(s.sum() for s in slope), own, allow_unused=True)
    with torch.no_grad():
        for p, c in zip(own, curve):
            p.add_(torch.zeros_like(p) if c is None else c, alpha=-0.01)
    opt.zero_grad()
    (value(x) - 1).square().mean().backward()
    opt.step()
"""

IMAGE = f"""{HEAD}
weights = torch.randn(6, 3)


def paint(image):
    opt = torch.optim.SGD([image.requires_grad_()], lr=4.0)
    for step in range(4):
        image.clamp_(0, 1)
        opt.zero_grad()
        (image @ weights - 0.5).square().mean().backward()
        opt.step()
    image.clamp_(0, 1)
    return image


print(paint(torch.rand(5, 6)).mean().item())
"""
HELD, LAST = "        image.clamp_(0, 1)\n", "    image.clamp_(0, 1)\n    return"
HELD_QUIETLY = (HELD, "        with torch.no_grad():\n            image.clamp_(0, 1)\n")

ATTENDING = f"""{HEAD}
query, key, value = (nn.Linear(4, 4) for _ in range(3))
opt = torch.optim.Adam([*query.parameters(), *key.parameters(), *value.parameters()], lr=0.01)
for step in range(5):
    x = torch.randn(6, 8, 4)
    kept, loss = torch.zeros(6, 8, 4), 0.0
    for t in range(8):
        kept[:, t] = key(x[:, t])
        weight = (query(x[:, t : t + 1]) @ kept[:, : t + 1].mT).softmax(-1)
        loss = loss + (weight @ value(x[:, : t + 1]) - 1).square().mean()
    opt.zero_grad()
    (loss + 2e-7 * key.bias.square().sum()).backward()
    opt.step()
"""
"""The bias of a key moves all scores alike: its gradient is zero, and what rounding leaves, but for a tiny term."""
WITHOUT_TERM = ATTENDING.replace(" + 2e-7 * key.bias.square().sum()", "")
TERM_GONE = (" + 2e-7 * key.bias.square().sum()", "")
AT_ONCE = (
    ("torch.zeros(6, 8, 4), 0.0\n", "key(x), 0.0\n"),
    ("        kept[:, t] = key(x[:, t])\n", ""),
)

# Which of two that hold the same is used first ---------------------------------------------------------------------

TWINS = f"""{HEAD}
net, target = nn.Linear(4, 1), nn.Linear(4, 1)
target.load_state_dict(net.state_dict())
gain, shift = (torch.ones(4, requires_grad=True) for _ in range(2))
x, y = torch.randn(8, 4), torch.randn(8, 4)
wide = float((gain * x).norm())
far = float((shift + y).norm())
opt = torch.optim.Adam([*net.parameters(), gain, shift], lr=0.01)
for step in range(4):
    out = net(gain * x / wide + shift / far)
    goal = target(y + shift)
    loss = (out - 0.9 * goal.detach()).square()
    opt.zero_grad()
    loss.mean().backward()
    (0.1 * loss.sum() + out.sum()).backward()
    opt.step()
    with torch.no_grad():
        for p, q in zip(target.parameters(), net.parameters()):
            p.lerp_(q, 0.1)
"""
KEEP_LOSS = ("loss.mean().backward()", "loss.mean().backward(retain_graph=True)")
OUT, GOAL = "    out = net(gain * x / wide + shift / far)\n", "    goal = target(y + shift)\n"
WIDE, FAR = "wide = float((gain * x).norm())\n", "far = float((shift + y).norm())\n"
NETS_EXCHANGED = (OUT + GOAL, GOAL + OUT)
LEAVES_EXCHANGED = (WIDE + FAR, FAR + WIDE)

NORMALISED = f"""{HEAD}
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(6):
    out = net(torch.randn(32, 6))
    opt.zero_grad()
    out.square().mean().backward()
    (out - 1).abs().mean().backward()
    opt.step()
"""
"""The bias in front of a batch norm: rounding moves it, and the mean that the norm keeps."""
SUMMED = (
    "    out.square().mean().backward()\n    (out - 1).abs().mean().backward()\n",
    "    (out.square().mean() + (out - 1).abs().mean()).backward()\n",
)

TWO_LAYERS = f"""{HEAD}
def layer():
    return LAYER


class Attending(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads, self.scores = nn.MultiheadAttention(4, 2, batch_first=True, bias=True), nn.Linear(4, 1)
        self.query, self.key = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        x = x + self.heads(x, x, x)[0]
        x = x + (self.query(x) @ self.key(x).mT).softmax(-1) @ x
        return self.scores(x).softmax(1) * x


first, second = layer(), layer()
opt = torch.optim.OPTIMIZER
for step in range(5):
    inner = first(torch.randn(SHAPE))
    outer = second(inner)
    opt.zero_grad()
    (SCALEouter.sin().mean()).backward()
    (SCALE(inner - 1).sin().mean()).backward()
    opt.step()
"""
"""Rounding moves the biases of the first layer, and only through them what rounding leaves in those of the second."""
ADAM = "Adam([*first.parameters(), *second.parameters()], lr=0.01)"
AT_A_RATE = "SGD([*first.parameters(), *second.parameters()], lr=1e7)"
CONVOLVED = "nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.{}(3), nn.ReLU(), nn.Conv2d(3, 3, 1))"
LAYERS = {
    "batch": (CONVOLVED.format("BatchNorm2d"), "4, 3, 8, 8"),
    "instance": (CONVOLVED.format("InstanceNorm2d"), "4, 3, 8, 8"),
    "layer": ("nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Tanh(), nn.Linear(4, 4))", "6, 4"),
    "attention": ("Attending()", "3, 5, 4"),
}


def layered(name: str, optimizer: str = ADAM, scale: str = "") -> str:
    """Two layers of which the loss reaches some parameters by rounding alone."""
    layer, shape = LAYERS[name]
    text = TWO_LAYERS.replace("LAYER", layer).replace("OPTIMIZER", optimizer)
    return text.replace("SHAPE", shape).replace("SCALE", scale)


def both(scale: str = "") -> tuple[str, str]:
    """The sum of both losses goes backward at once."""
    apart = f"    ({scale}outer.sin().mean()).backward()\n    ({scale}(inner - 1).sin().mean()).backward()\n"
    return apart, f"    ({scale}outer.sin().mean() + {scale}(inner - 1).sin().mean()).backward()\n"


TINY = "1e-8 * "
BIASED = ("outer.sin().mean()", "outer.sin().mean() + 2e-6 * first[0].bias.square().sum()")
SMALL_LEAF = f"""{HEAD}
a, b = (torch.randn(4, requires_grad=True) for _ in range(2))
large, small = (3 * a.exp()).sum(), (b.sin() * a.detach()).sum()
loss = large + 1e-8 * small
loss.backward()
loss.backward()
"""
TWICE = "loss.backward()\nloss.backward()"

IN_STAGES = f"""{HEAD}
G, D = (nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, out)) for out in (4, 1))
first_opt = torch.optim.Adam(G.parameters(), lr=0.01)
d_opt, g_opt = torch.optim.Adam(D.parameters(), lr=0.01), torch.optim.Adam(G.parameters(), lr=0.01)
for step in range(3):
    G.zero_grad()
    G(torch.randn(8, 4)).square().mean().backward()
    first_opt.step()
for step in range(4):
    D.requires_grad_(True)
    G.requires_grad_(False)
    D.zero_grad()
    fake = G(torch.randn(8, 4))
    (D(fake.detach()) - D(torch.randn(8, 4))).mean().backward()
    d_opt.step()
    D.requires_grad_(False)
    G.requires_grad_(True)
    G.zero_grad()
    (-D(fake).mean()).backward()
    g_opt.step()
"""
"""Of two optimizers of one network, the second begins when the first has made all its steps."""
FREEZE_G = "    G.requires_grad_(False)\n"
THROUGH_D = "(-D(fake).mean())"

# What torch keeps of a leaf that is given other memory ----------------------------------------------------------------

VECTORS = "        v.data = unit(w.t().data.mv(u.data))\n        u.data = unit(w.data.mv(v.data))\n"
D_FIRST = "    opt_d.zero_grad()\n    loss_d.backward()\n    opt_d.step()\n"
G_SECOND = "    opt_g.zero_grad()\n    loss_g.backward()\n    opt_g.step()\n"
SPECTRAL = f"""{HEAD}
def unit(v):
    return v / v.norm()


class Spectral(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.u = nn.Parameter(unit(torch.randn(outputs)), requires_grad=False)
        self.v = nn.Parameter(unit(torch.randn(inputs)), requires_grad=False)
        self.bar = nn.Parameter(torch.randn(outputs, inputs))

    def forward(self, x):
        u, v, w = self.u, self.v, self.bar
{VECTORS}        return x @ (w / u.dot(w.mv(v))).t()


G, D = nn.Linear(3, 4), nn.Sequential(Spectral(4, 6), nn.Tanh(), Spectral(6, 1))
opt_g, opt_d = (torch.optim.Adam(net.parameters(), lr=1e-3) for net in (G, D))
for step in range(6):
    fake = G(torch.randn(5, 3))
    score = D(fake)
    loss_d = D(fake.detach()).mean() - D(torch.randn(5, 4)).mean()
    loss_g = -score.mean()
{D_FIRST}{G_SECOND}"""
G_FIRST = (D_FIRST + G_SECOND, G_SECOND + D_FIRST)

# Several steps of one optimizer for each of another -------------------------------------------------------------------

OFTEN = f"""{HEAD}
G, D = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
opt_g, opt_d = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (G, D))
for step in range(12):
    fake = G(torch.randn(5, 3))
    loss_d = (D(fake.detach()) - 1).square().mean() + (D(torch.randn(5, 4)) + 1).square().mean()
    loss_g = D(fake).square().mean()
{D_FIRST}    if step % 3 == 2:
    {G_SECOND.replace("    opt_g.s", "        opt_g.s").replace("    loss_g", "        loss_g")}"""
OFTEN_LATE = OFTEN[OFTEN.index("    if step") :]
G_BEFORE = (D_FIRST + OFTEN_LATE, OFTEN_LATE + D_FIRST)

RIGHT: dict[str, tuple[str, Edit]] = {
    "a second optimizer of what was trained": (IN_STAGES, ((FREEZE_G, ""),)),
    "statistics of what rounds otherwise": (NORMALISED, (SUMMED,)),
    **{f"what rounding leaves before a norm: {name}": (layered(name), (both(),)) for name in LAYERS},
    "a loss that is tiny": (layered("layer", AT_A_RATE, TINY), (both(TINY),)),
    "a leaf that hardly matters": (SMALL_LEAF, ((TWICE, "(2 * large + 2e-8 * small).backward()"),)),
    "twins met in another order": (TWINS, (KEEP_LOSS, NETS_EXCHANGED, LEAVES_EXCHANGED)),
    "what rounds otherwise": (WITHOUT_TERM, AT_ONCE),
    "weights clamped before each pass": (CLAMPED, BEFORE),
    "weights clamped after each step": (UNRESTORED, AFTER),
    "weights restored": (RESTORED, (("p.copy_(good)", "p.data = good.clone()"),)),
    "a parameter made of another's memory": (SHARED, (("rows[", "rows.data["),)),
    "rows solved before the first step": (SOLVED, BY_DATA),
    "weights swapped in and back": (AVERAGED, (KEEP,)),
    "swapped through .data": (AVERAGED, (KEEP, ("p.copy_(a)", "p.data.copy_(a)"), ("p.copy_(k)", "p.data.copy_(k)"))),
    "a buffer that is sent": (SENT, (KEEP,)),
    "sent through .data": (SENT, (KEEP, ("mine.copy_", "mine.data.copy_"))),
    "a forward at the point climbed to": (CLIMBING, (AGAIN,)),
    "made anew of parameters": (MIXING, MIXED_ANEW),
    "made anew, beside what was kept": (ANCHORED, MIXED_ANEW),
    "a loss made anew as a whole": (WHOLE, WHOLE_ANEW),
    "a small step": (SLOW, (KEEP_SCORE, SCORED_ANEW)),
    "anew after an update by hand": (BY_HAND, (KEEP_SCORE, BY_HAND_ANEW)),
    "start by .data": (TABLE, ((WRITE, "embed.weight.data[:] = table"),)),
    "start by .data =": (TABLE, ((WRITE, "embed.weight.data = table.clone()"),)),
    "start by copy_": (TABLE, ((WRITE, f"{QUIETLY}embed.weight.copy_(table)"),)),
    "start by rows": (TABLE, ((WRITE, f"{QUIETLY}for i in range(6):\n        embed.weight[i] = table[i]"),)),
    "a norm of each pass, without a graph": (NORMED, ((SIZE + DIVIDED, QUIET_NORM),)),
    "a norm of each pass, copied": (NORMED, ((DIVIDED, COPIED_NORM),)),
    "made anew at each of two uses": (CACHED, AT_EACH_USE),
    "parameters in another order": (SHOWN, ((GIVEN, FLIPPED),)),
    "what a phase left for the next": (PHASES, (OUT_OF_PLACE,)),
    "start before the optimizer": (TABLE, ((MADE, ""), (WRITE, f"embed.weight.data.copy_(table)\n{MADE.strip()}"))),
    "a draw on another line": (DRAWING, (KEEP_OUT, *INLINE)),
    "a draw in a function": (DRAWING, (KEEP_OUT, *IN_A_FUNCTION)),
    "derivatives as gradients": (PROJECTED, (KEEP_FIRST,)),
    "derivatives as updates": (PROJECTED_BY_HAND, (KEEP_FIRST,)),
    "a mask of minus infinity": (MASKED, (KEEP,)),
    "a limit behind the step, beside half precision": (
        LIMITED,
        ((LIMIT, "net.size.data = net.size.data.clamp(0, 1.6)"),),
    ),
    "curvature beside a view without gradient": (CURVED, (("(kl, own)", "(kl, own, create_graph=True)"),)),
    "a last write to the leaf": (IMAGE, (HELD_QUIETLY, (LAST, "    image.data.clamp_(0, 1)\n    return"))),
    "small figures": (FIGURES, (("out.sum(), w)", "out.sum(), w, retain_graph=True)"),)),
    "vectors that are given other memory": (SPECTRAL, (G_FIRST,)),
    "a seldom step before an often one": (OFTEN, (G_BEFORE,)),
}
WRONG: dict[str, tuple[str, Edit]] = {
    "nothing to train for a second optimizer": (IN_STAGES, (("    D.requires_grad_(False)\n", ""),)),
    "a second optimizer of another loss": (IN_STAGES, ((FREEZE_G, ""), (THROUGH_D, "D(fake).mean()"))),
    "statistics that are kept otherwise": (NORMALISED, (SUMMED, ("BatchNorm1d(16)", "BatchNorm1d(16, momentum=0.11)"))),
    "statistics of half a batch": (
        NORMALISED,
        (
            SUMMED,
            ("    opt.zero_grad", "    with torch.no_grad():\n        net(torch.randn(16, 6))\n    opt.zero_grad"),
        ),
    ),
    **{
        f"layers cut from a loss: {name}": (layered(name), (both(), ("second(inner)", "second(inner.detach())")))
        for name in LAYERS
    },
    "a part of a loss that is tiny": (layered("layer", AT_A_RATE, TINY), (both(TINY), ("(inner - 1)", "(inner - 2)"))),
    "a tiny term before a norm that is smaller": (
        layered("batch").replace(*BIASED),
        ((both()[0].replace(*BIASED), both()[1].replace(*BIASED).replace("2e-6", "7e-7")),),
    ),
    "a leaf that matters more": (SMALL_LEAF, ((TWICE, "(2 * large + 6e-8 * small).backward()"),)),
    "a goal of its own twin": (TWINS, (KEEP_LOSS, (OUT + GOAL, GOAL.replace("target", "net") + OUT))),
    "a leaf for its twin": (TWINS, (KEEP_LOSS, (WIDE + FAR, FAR.replace("shift", "gain") + WIDE))),
    "a tiny term that is gone": (ATTENDING, (*AT_ONCE, TERM_GONE)),
    "a tiny term that is larger": (ATTENDING, (*AT_ONCE, ("2e-7", "6e-7"))),
    "what rounds to nothing, without its graph": (
        WITHOUT_TERM,
        (("key(x[:, t])", "nn.functional.linear(x[:, t], key.weight, key.bias.detach())"), (".mT", ".mT.clone()")),
    ),
    "weights clamped no more": (CLAMPED, ((IN_FORWARD, ""),)),
    "weights clamped in the first pass": (CLAMPED, ((IN_FORWARD, ""), ("best =", f"{KEPT}\nbest ="))),
    "weights clamped elsewhere": (CLAMPED, (BEFORE[0], (BEFORE[1][0], BEFORE[1][1].replace("=0", "=0.05")))),
    "clamped, and another layer cut": (
        CLAMPED,
        (*BEFORE, ("last(beside(torch.randn(8, 4)))", "last(beside(torch.randn(8, 4)).detach())")),
    ),
    "clamped, and not restored": (CLAMPED, (*AFTER, FINISHED)),
    "weights that are the stored ones": (RESTORED, (("p.copy_(good)", "p.data = good"),)),
    "a parameter that is not written": (SHARED, (("rows[", "rows.clone()["),)),
    "weights not brought back": (AVERAGED, (KEEP, ("p.copy_(k)", "p = k.clone()"))),
    "weights not swapped in": (AVERAGED, (KEEP, ("p.copy_(a)", "p = a.clone()"))),
    "other weights swapped in": (AVERAGED, (KEEP, ("p.copy_(a)", "p.copy_(0.5 * a)"))),
    "a buffer that is not sent": (SENT, (KEEP, ("mine.copy_(theirs)", "mine = theirs.clone()"))),
    "no climb": (CLIMBING, (AGAIN, ("p.add_(p.grad, alpha=0.1)", "p = p.add(p.grad, alpha=0.1)"))),
    "no way back": (CLIMBING, (AGAIN, ("p.copy_(s)", "p = s.clone()"))),
    "features of a probe": (PROBED, ANEW),
    "less of what was kept": (ANCHORED, (*MIXED_ANEW, ("0.05 *", "0.02 *"))),
    "nothing of what was kept": (ANCHORED, (*MIXED_ANEW, (" + 0.05 *", " + 0 *"))),
    "features of a probe, of a leaf": (LEAF, ANEW),
    "a cut with a small step": (SLOW, (KEEP_SCORE, CUT)),
    "a cut with an update by hand": (BY_HAND, (KEEP_SCORE, CUT_BY_HAND)),
    "another update by hand": (BY_HAND, (KEEP_SCORE, BY_HAND_ANEW, ("V.data -= 0.1", "V.data -= 0.2"))),
    "rows solved for one side alone": (SOLVED, (BY_DATA[0], (OF_P, "pass"))),
    "a start that is lost": (TABLE, ((WRITE, "weight = table.clone()"),)),
    "a norm that is lost": (NORMED, ((SIZE + DIVIDED, "    embed.weight.norm(dim=1, keepdim=True)\n"),)),
    "a norm of all, not of rows": (NORMED, ((SIZE + DIVIDED, QUIET_NORM.replace("(dim=1, keepdim=True)", "()")),)),
    "made anew at one of two uses": (
        CACHED,
        ((MADE_ONCE, AT_EACH_USE[0][1]), ("4) @ weight", "4) @ weight()"), ("(x @ weight)", "(x @ weight().detach())")),
    ),
    "one parameter too few": (SHOWN, ((GIVEN, FLIPPED.replace(", net.lin.bias", "")),)),
    "two groups that are treated otherwise": (SHOWN, ((GIVEN, TWO_GROUPS),)),
    "what each pass leaves for the other": (TURNS, (OUT_OF_PLACE,)),
    "a start in part": (TABLE, ((WRITE, "embed.weight.data[1:] = table[1:]"),)),
    "a draw before the loop": (DRAWING, (KEEP_OUT, *BEFORE_THE_LOOP)),
    "a larger draw elsewhere": (DRAWING, (KEEP_OUT, (NOISE, ""), ("+ noise", "+ 0.2 * torch.randn(8, 1)"))),
    "one draw for two": (DRAWING, (KEEP_OUT, (NOISE, ""), ("+ noise", "+ 0.1 * state[:, :1]"))),
    "a penalty by a constant": (PENALISED, (("out.sum(), x)", "out.sum(), x, retain_graph=True)"),)),
    "derivatives of one loss": (PROJECTED, (KEEP_FIRST, ("a + b.clamp(-1, 1)", "a"))),
    "a mask that is written": (MASKED, (KEEP, UNMASKED)),
    "no limit": (LIMITED, ((LIMIT, "limited = net.size.clamp(0, 1.6)"),)),
    "a limit in the forward": (LIMITED, ((LIMIT, "pass"), ("* net.size\n", "* net.size.clamp(0, 1.6)\n"))),
    "a last write to another tensor": (IMAGE, (HELD_QUIETLY, (LAST, "    image = image.clamp(0, 1)\n    return"))),
    "vectors that are updated no more": (SPECTRAL, (G_FIRST, (VECTORS, ""))),
    "a seldom step's gradient in an often one": (OFTEN, (G_BEFORE, ("    opt_d.zero_grad()\n", ""))),
    "an often step left out": (
        OFTEN,
        (G_BEFORE, ("    opt_d.zero_grad()", "    if step % 3 == 2:\n        continue\n    opt_d.zero_grad()")),
    ),
    "other small figures": (FIGURES, (("out.sum(), w)", "(w * 7e-5).sum(), w)"),)),
}


@pytest.mark.parametrize("name", one_in(8, RIGHT))
def test_a_right_edit_is_believed(script: Scripts, name: str) -> None:
    text, edit = RIGHT[name]
    found = script(text).verify(*edit)
    assert found.outcome is Outcome.SAFE, found.fixes[0].verdict if found.fixes else found.rejected


@pytest.mark.parametrize("name", one_in(8, WRONG))
def test_a_wrong_edit_is_not_believed(script: Scripts, name: str) -> None:
    text, edit = WRONG[name]
    assert script(text).verify(*edit).outcome is Outcome.UNSAFE


CLIPPED = """\
import torch

torch.manual_seed(0)
net, seen = torch.nn.Linear(2, 3), []
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
for _ in range(6):
    loss = (net(torch.randn(4, 2)).pow(2).mean(1) + 1) * 4096
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.25)
    optimizer.step()
    seen.append(loss.mean().item())
"""


@pytest.mark.parametrize("ours", [True, False])
@pytest.mark.parametrize(("reduced", "right"), [("loss.mean()", True), ("loss.sum()", False)])
def test_clipping_to_one_size_makes_no_mean_of_a_sum(script: Scripts, reduced: str, *, right: bool, ours: bool) -> None:
    # Four values: a sum is four times the mean to the last bit, and so are its gradients until they are clipped.
    verdict = script(CLIPPED).verdict(("loss.backward()", f"{reduced}.backward()"), ours=ours)
    assert (verdict.applicability is Applicability.SAFE) is right


# What is refreshed beside what fails ---------------------------------------------------------------------------------

NOISY = f"""{HEAD}
net, head = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Dropout(0.5), nn.Linear(16, 1)), nn.Linear(1, 1)
opt_a, opt_b = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (net, head))


def forward(x):
    return head(net(x + 0.1 * torch.randn(8, 4)))


for step in range(4):
    x = torch.randn(8, 4)
    out = forward(x)
    opt_a.zero_grad()
    out.square().mean().backward()
    opt_a.step()
    opt_b.zero_grad()
    (out - 1).square().mean().backward()
    opt_b.step()
"""
DRAWS = "The edit also draws other random numbers (line 23 of the edited train.py)"


def test_draws_of_one_more_forward_are_named_where_gradients_differ(script: Scripts) -> None:
    again = ("    opt_b.zero_grad()\n", "    opt_b.zero_grad()\n    out = forward(x)\n")
    found = script(NOISY).verdict(again)
    assert found.effect is Effect.CHANGED
    assert DRAWS in found.summary


def test_a_cut_without_new_draws_says_nothing_of_draws(script: Scripts) -> None:
    keep = ("out.square().mean().backward()", "out.square().mean().backward(retain_graph=True)")
    cut = script(NOISY).verdict(keep, ("(out - 1)", "(out.detach() - head.bias)"))
    assert cut.effect is Effect.CHANGED
    assert "draws" not in cut.summary
    assert cut.summary.startswith(
        "changed: the edit cuts the graph at `out.detach()` (line 23 of the edited train.py)."
    )


VALUE, V_LOSS = "    value = q(torch.cat([x, actor(x)], 1))\n", "    v_loss = (v(x) - value.detach()).square().mean()\n"
ACTING = f"""{HEAD}
actor, v, q = nn.Linear(3, 2), nn.Linear(3, 1), nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 1))
actor_opt, v_opt, q_opt = (torch.optim.Adam(net.parameters(), lr=0.05) for net in (actor, v, q))
for step in range(8):
    x = torch.randn(8, 3)
{VALUE}{V_LOSS}    q_loss = (q(torch.randn(8, 5)) - 1).square().mean()
    q_opt.zero_grad()
    q_loss.backward()
    q_opt.step()
    v_opt.zero_grad()
    v_loss.backward()
    v_opt.step()
    if step % 2 == 0:
        actor_opt.zero_grad()
        (-value.mean()).backward()
        actor_opt.step()
"""


def test_a_loss_that_does_not_fail_is_not_refreshed_by_another_s_step(script: Scripts) -> None:
    train = script(ACTING)
    late, again = "    v_opt.zero_grad()\n", "    if step % 2 == 0:\n"
    moved = train.verdict((VALUE + V_LOSS, ""), (late, VALUE + V_LOSS + late))
    copied = train.verdict((again, VALUE + again))
    assert moved.effect is Effect.CHANGED
    assert copied.effect is Effect.REFRESHED


@pytest.mark.apart("long")
def test_of_edits_that_refresh_one_that_refreshes_the_failing_loss_alone_comes_first(script: Scripts) -> None:
    kept, *others = script(ACTING).fix().fixes
    assert kept.verdict.effect is Effect.IDENTICAL  # the step of the critic is moved: before all that refreshes
    first = next(fix for fix in others if fix.verdict.effect is Effect.REFRESHED)
    changed = [line for line in first.diff.splitlines() if line[:1] in (b"+", b"-")][2:]
    assert [line[:1] + line[1:].strip() for line in changed] == [b"+" + VALUE.strip().encode()]


# What the judge's own runs meet ---------------------------------------------------------------------------------------

ASSERTED = f"""{HEAD}
class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.f, self.last = nn.Linear(2, 4), nn.Linear(4, 4)
        nn.init.zeros_(self.last.weight)
        self.prior = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        start = self.prior.detach().clone()
        assert start.sum() == 0
        one, two = x[:, :2], x[:, 2:]
        shift, scale = self.last(self.f(one).tanh()).chunk(2, 1)
        two += shift
        two *= scale.sigmoid()
        return one + start, two, scale


net = Flow()
rest = [p for name, p in net.named_parameters() if name != "last.weight"]
opt = torch.optim.Adam([dict(params=rest), dict(params=[net.last.weight], lr=1e-2)], lr=1e-2)
for step in range(6):
    one, two, scale = net(torch.randn(8, 4))
    opt.zero_grad()
    (one.square() + two.square() - scale).mean().backward()
    opt.step()
"""


@pytest.mark.apart("long")
def test_where_moved_parameters_are_refused_live_runs_decide_unless_a_zero_may_hide_a_gradient(script: Scripts) -> None:
    assert script(ASSERTED).fix().fixes[0].verdict.applicability is Applicability.SAFE
    hidden = script(ASSERTED.replace("[net.last.weight], lr=1e-2", "[net.last.weight], lr=0.0")).fix().fixes[0].verdict
    assert hidden.effect is Effect.UNKNOWN
    assert "AssertionError at line 17 of train.py" in hidden.summary


EPOCHS = f"""{HEAD}
G = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4))
D = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
opt_g, opt_d = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (G, D))
for epoch in range(4):
    opt_g.step()
    for batch in range(4):
        noise = torch.randn(5, 3)
        score = D(G(noise))
        opt_g.zero_grad()
        (score - 1).square().mean().backward(retain_graph=True)
        opt_g.step()
        opt_d.zero_grad()
        (score + 1).square().mean().backward()
        opt_d.step()
"""
STEP_G, SECOND = "        opt_g.step()\n", "(score + 1).square().mean().backward("
ALONE = (
    (STEP_G, ""),
    (SECOND, f"{SECOND}inputs=list(D.parameters())"),
    ("        opt_d.step()\n", f"        opt_d.step()\n{STEP_G}"),
)
SCORED_AGAIN = (("        opt_d.zero_grad()\n", "        opt_d.zero_grad()\n        score = D(G(noise))\n"),)


@pytest.mark.apart("long")
@pytest.mark.parametrize(("edit", "effect"), [(ALONE, Effect.CHANGED), (SCORED_AGAIN, Effect.REFRESHED)])
def test_newer_parameters_explain_no_step_that_runs_with_steps_undone_did_not_come_to(
    script: Scripts, monkeypatch: pytest.MonkeyPatch, edit: Edit, effect: Effect
) -> None:
    monkeypatch.setattr(requests, "_SLOW", 0.0)
    assert script(EPOCHS).verdict(*edit).effect is effect
