"""Fully neural network point process (Omi, Ueda, Aihara 2019), single event type.

The net outputs the *cumulative* hazard of the waiting time, its slope is the intensity.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import warnings

warnings.filterwarnings("ignore")
device = "cpu"  # "cuda:0"


class PositiveLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.w = nn.Parameter(torch.rand(o, i) * 0.5)
        self.b = nn.Parameter(torch.zeros(o))

    def forward(self, x):
        return F.linear(x, F.softplus(self.w) / self.w.shape[1] ** 0.5, self.b)


class CumHazard(nn.Module):
    """monotone in dt: every weight on dt's way is positive"""

    def __init__(self, hid, width):
        super().__init__()
        self.from_dt = PositiveLinear(1, width)
        self.from_h = nn.Linear(hid, width, bias=False)
        self.l2 = PositiveLinear(width, width)
        self.out = PositiveLinear(width, 1)

    def forward(self, h, dt_col):
        z = torch.tanh(self.from_dt(dt_col) + self.from_h(h))
        z = torch.tanh(self.l2(z))
        return F.softplus(self.out(z)) + 0.01 * dt_col


class FullyNN(nn.Module):
    def __init__(self, hid=10, width=12):
        super().__init__()
        self.rnn = nn.GRU(1, hid, batch_first=True)
        self.hazard = CumHazard(hid, width)

    def forward(self, history, dt):
        """log likelihood of the waiting time dt (batch,) after history (batch, length)"""
        _, h = self.rnn(torch.log(history.unsqueeze(-1) + 1e-3))
        h = h[-1]
        dt = dt.requires_grad_()
        Lam = self.hazard(h, dt.unsqueeze(-1))
        Lam0 = self.hazard(h, torch.zeros_like(dt).unsqueeze(-1))
        total = (self.hazard(h.detach(), dt.unsqueeze(-1)) - Lam0.detach()).sum()
        lam = torch.autograd.grad(total, dt, create_graph=True)[0].unsqueeze(-1)
        log_lam = torch.log(lam.squeeze(-1) + 1e-8)
        return log_lam - (Lam - Lam0).squeeze(-1), lam.squeeze(-1)


def windows(gaps, k):
    x = gaps.unfold(0, k + 1, 1)
    return x[:, :k], x[:, k]


def self_correcting(n):
    gaps, load = [], 0.0
    for e in torch.empty(n).exponential_(1.0).tolist():
        g = e * (1.5 if load > 1.0 else 0.5)
        load = 0.6 * load + (1.0 if g < 0.5 else 0.0)
        gaps.append(g)
    return torch.tensor(gaps)


def train(epochs=3, k=6, bs=32):
    torch.manual_seed(31)
    hist, nxt = windows(self_correcting(140), k)
    model = FullyNN().to(device)
    optimizer = optim.Adam(model.parameters(), lr=4e-3)
    for ep in range(epochs):
        model.train()
        perm = torch.randperm(len(hist))
        lls = 0.
        for b in perm.split(bs):
            ll, lam = model(hist[b].to(device), nxt[b].to(device))
            loss = -ll.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            lls += ll.sum().item()
        print("epoch %d  ll/event %.6f  mean intensity %.6f" % (ep, lls / len(hist), lam.mean().item()))


if __name__ == "__main__":
    train()
