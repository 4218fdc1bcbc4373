"""Values that are computed, chosen or kept otherwise."""

from autofix.verdict.property import Example

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
START = TOTAL[TOTAL.index("    total") :]
GROWS, SUM = "total += net(x)", "total = net(x) if total is None else total + net(x)"
STEPPED = "    scheduler.step()\n"
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
AVERAGED = """\
G, D = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
g_optimizer, d_optimizer = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (G, D))
for step in range(8):
    real, fake = torch.randn(5, 3), G(torch.randn(5, 2))
    score = D(fake).mean()
    d_optimizer.zero_grad()
    (score - D(real).mean()).backward(retain_graph=True)
    d_optimizer.step()
    train[g_optimizer]: (1 - score).mean()
"""
TRAIN_G = "    g_optimizer.zero_grad()"
CHOSEN = "    score = D(fake) - D(real).mean() if real_too else D(fake)\n"
DECIDED = CRITIC[CRITIC.index("    if") : CRITIC.index("    d_opt")]
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
TRACK = """\
thick = torch.tensor(2.0, requires_grad=True)
optimizer = torch.optim.SGD([thick], lr=0.1)
for _ in range(8):
    at = torch.stack([torch.tensor(0.5), torch.tensor(1.0), 1.0 + thick])
    track = at.max().item() - at.min().item()
    loss = torch.as_tensor((track - 1.5) ** 2)
    train: loss
"""
APART = TRACK.replace("track = at.max().item() - at", "far = at.max().item()\n    near = at")
APART = APART.replace("track - ", "far - near - ")
MEASURED, BY_TENSOR = "at.max().item() - at.min().item()", "at.max() - at.min()"

ANGLES = """\
angles = nn.Parameter(torch.tensor([0.3, 0.7]))
optimizer = torch.optim.SGD([angles], lr=0.1)
state = torch.tensor([0.6, 0.8], dtype=torch.complex64)
def turned(angle):
    sin, cos = angle.sin(), angle.cos()
    return torch.as_tensor([[cos, -1j * sin], [-1j * sin, cos]])
def rotated(angle):
    sin, cos = angle.sin(), angle.cos()
    return torch.as_tensor([[cos, -sin], [sin, cos]]).to(torch.complex64)
for _ in range(8):
    loss = ((turned(angles[0]) @ (rotated(angles[1]) @ state)).abs()[0] - 1).square()
    train: loss
"""
GATES = ANGLES[ANGLES.index("def turned") : ANGLES.index("for _")]
STACKED = """\
def turned(angle):
    sin, cos = angle.sin(), angle.cos()
    return torch.stack([torch.stack([cos + 0j, -1j * sin]), torch.stack([-1j * sin, cos + 0j])])
def rotated(angle):
    sin, cos = angle.sin(), angle.cos()
    return torch.stack([torch.stack([cos, -sin]), torch.stack([sin, cos])]).to(torch.complex64)
"""
QUANTILE = """\
import numpy as np

net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def bounded(x):
    most = np.percentile(np.abs(x.numpy()), 95, axis=1)
    most = torch.from_numpy(np.maximum(most, 0.01)).float().view(-1, 1)
    return torch.minimum(x, most) / most
for _ in range(8):
    loss = (bounded(net(torch.randn(5, 3))) - 0.3).square().mean()
    train: loss
"""
OF_NUMPY = QUANTILE[QUANTILE.index("    most = np.p") : QUANTILE.index("    return")]
OF_TORCH = """\
    with torch.no_grad():
        most = torch.quantile(x.abs(), 0.95, dim=1).clamp(min=0.01).view(-1, 1)
"""

RAISES = (
    Example(ANGLES, GATES, STACKED.replace("cos + 0j, -1j", "cos.clamp(max=9) + 0j, -1j")),
    Example(ANGLES, GATES, STACKED.replace("cos + 0j, -1j", "cos + 0 * cos, -1j")),
    Example(QUANTILE, OF_NUMPY, OF_TORCH.replace("0.01", "0.001")),
    Example(QUANTILE, OF_NUMPY, OF_TORCH.replace("min=0.01", "min=0.01, max=99")),
    Example(AVERAGED, "(1 - score)", "(1 - D(fake).mean().clamp(max=99))"),
    Example(TRACK, MEASURED, BY_TENSOR.replace("at.min", "at.clamp(max=99).min")),
    Example(TRACK, MEASURED, f"{BY_TENSOR}.clamp(-99, 99)"),
    Example(APART, ".item()", ".clamp(max=99)"),
    Example(TOTAL, START, START.replace("= 0\n", "= 0 if turn < 99 else 1\n").replace(GROWS, SUM)),
    Example(TOTAL, START, START.replace("total = 0", "total = None").replace(GROWS, SUM).replace(STEPPED, "")),
    Example(CRITIC, TRAIN_G, CHOSEN.replace("D(real).mean()", "D(real.square()).mean()") + TRAIN_G),
    Example(CRITIC, TRAIN_G, CHOSEN.replace("real_too", "step > 99") + TRAIN_G),
    Example(SLOPED, RISES, BY_COLUMN.replace("(column))", "(column.clamp(max=9)))")),
    Example(SLOPED.replace(RISES, WRITTEN_FIRST), WRITTEN_FIRST, BY_COLUMN_FIRST.replace("= t.uns", "= t.clone().uns")),
    Example(SHOWN, "out.numpy()", f"{AS_LIST}.clip(-99, 99)"),
    Example(LEGACY, APPLIED, STATIC.replace("    def reset", "    @staticmethod\n    def reset")),
    Example(CONSTRAINED, ONCE, IN_EACH.replace("self.std.mean()", "self.std.clamp(max=99).mean()")),
    Example(FOUND, HAS, SUMMED.replace("max(len(found), 1)", "(max(len(found), 1) + (step > 99))")),
    Example(CAST, BORN, CAST_LATER.replace("gate.to(x)", "gate.to(x).clamp(max=9)")),
)
SILENT = (
    Example(ANGLES, GATES, STACKED),
    Example(ANGLES, GATES, STACKED.replace("cos + 0j", "1 * cos")),
    Example(QUANTILE, OF_NUMPY, OF_TORCH),
    Example(QUANTILE, OF_NUMPY, OF_TORCH.replace("clamp(min=0.01)", "clamp_min(0.01)")),
    Example(AVERAGED, "(1 - score)", "(1 - D(fake).mean())"),
    Example(TRACK, MEASURED, BY_TENSOR),
    Example(APART, ".item()", ""),
    Example(APART, "at.max().item()\n    near = at.min().item()", "torch.max(at)\n    near = torch.min(at)"),
    Example(CRITIC, TRAIN_G, CHOSEN + TRAIN_G),
    Example(CRITIC, TRAIN_G, DECIDED + TRAIN_G),
    Example(TOTAL, START, START.replace("total = 0", "total = None").replace(GROWS, SUM)),
    Example(SLOPED, RISES, BY_COLUMN),
    Example(SLOPED.replace(RISES, WRITTEN_FIRST), WRITTEN_FIRST, BY_COLUMN_FIRST),
    Example(SHOWN, "out.numpy()", AS_LIST),
    Example(LEGACY, APPLIED, STATIC),
    Example(CONSTRAINED, ONCE, IN_EACH),
    Example(FOUND, HAS, SUMMED),
    Example(CAST, BORN, CAST_LATER),
)
