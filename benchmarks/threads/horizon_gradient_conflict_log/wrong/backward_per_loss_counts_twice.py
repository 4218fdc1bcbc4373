import math

import torch
import torch.nn as nn

# Multi-horizon forecaster. We suspect that the 1-step and the 12-step heads pull the shared TCN apart, therefore the
# cosine between their gradients goes to the log every few iterations (nur Diagnose, soll das Training nicht ändern).

HORIZONS = (1, 4, 12)
WINDOW = 48


class CausalConv(nn.Module):
    def __init__(self, cin, cout, k=3, dilation=1):
        super().__init__()
        self.pad = (k - 1) * dilation
        self.conv = nn.Conv1d(cin, cout, k, dilation=dilation)

    def forward(self, x):
        return torch.relu(self.conv(nn.functional.pad(x, (self.pad, 0))))


class Forecaster(nn.Module):
    def __init__(self, channels=8):
        super().__init__()
        self.trunk = nn.Sequential(CausalConv(1, channels), CausalConv(channels, channels, dilation=2), CausalConv(channels, channels, dilation=4))
        self.drop = nn.Dropout(0.1)
        self.heads = nn.ModuleDict({str(h): nn.Sequential(nn.Linear(channels, channels), nn.SiLU(), nn.Linear(channels, h)) for h in HORIZONS})

    def forward(self, x):
        z = self.drop(self.trunk(x.unsqueeze(1))[..., -1])
        return {h: self.heads[str(h)](z) for h in HORIZONS}


def series(n=600):
    t = torch.arange(n, dtype=torch.float32)
    return torch.sin(2 * math.pi * t / 24) + 0.4 * torch.sin(2 * math.pi * t / 168) + 0.1 * torch.randn(n)


def windows(y, size):
    at = torch.randint(0, len(y) - WINDOW - max(HORIZONS), (size,))
    x = torch.stack([y[a:a + WINDOW] for a in at])
    target = {h: torch.stack([y[a + WINDOW:a + WINDOW + h] for a in at]) for h in HORIZONS}
    return x, target


def flatten(grads):
    return torch.cat([g.reshape(-1) for g in grads])


class ConflictMeter:
    def __init__(self, shared, every=2):
        self.shared = [p for p in shared if p.requires_grad]
        self.every = every
        self.log = []

    def measure(self, losses):
        vecs, before = [], 0
        for loss in losses.values():
            loss.backward(retain_graph=True)
            vecs.append(flatten([p.grad for p in self.shared]) - before)
            before = before + vecs[-1]
        worst = 1.0
        for i in range(len(vecs)):
            for j in range(i):
                worst = min(worst, torch.cosine_similarity(vecs[i], vecs[j], dim=0).item())
        self.log.append(worst)
        return worst


def train(iterations=8):
    torch.manual_seed(3)
    y = series()
    model = Forecaster()
    weights = {1: 1.0, 4: 0.5, 12: 0.25}
    meter = ConflictMeter(model.trunk.parameters())
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    for it in range(iterations):
        x, target = windows(y, 32)
        pred = model(x)
        losses = {h: nn.functional.smooth_l1_loss(pred[h], target[h]) for h in HORIZONS}
        total = sum(weights[h] * losses[h] for h in HORIZONS)
        optimizer.zero_grad()
        if it % meter.every == 0:
            print(f"[{it}] min cos {meter.measure(losses):.4f}")
        total.backward()
        optimizer.step()
        print(f"[{it}] total {total.item():.5f}")
    return model, meter


if __name__ == "__main__":
    _, meter = train()
    print(f"mean conflict {sum(meter.log) / len(meter.log):.4f}")
