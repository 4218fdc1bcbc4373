"""Two-layer spiking net (LIF, hard reset) on rate-coded toy digits. Surrogate: fast sigmoid (Zenke & Ganguli)."""
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    steps: int = 12
    hidden: int = 20
    classes: int = 4
    inputs: int = 16
    beta: float = 0.85
    threshold: float = 0.6
    slope: float = 5.0
    batch: int = 24
    iters: int = 7
    lr: float = 5e-3
    rate_penalty: float = 1e-2


class SpikeFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, mem, threshold, slope):
        ctx.save_for_backward(mem)
        ctx.threshold, ctx.slope = threshold, slope
        return (mem > threshold).float()

    @staticmethod
    def backward(ctx, grad):
        mem, = ctx.saved_tensors
        return grad / (ctx.slope * (mem - ctx.threshold).abs() + 1) ** 2, None, None


class LIF(nn.Module):
    def __init__(self, n, cfg):
        super().__init__()
        self.cfg = cfg
        self.decay = nn.Parameter(torch.full((n,), cfg.beta))
        self.mem = None

    def reset(self):
        self.mem = None

    def forward(self, current):
        if self.mem is None:
            self.mem = torch.zeros_like(current)
        self.mem = self.decay.clamp(0, 1) * self.mem + current
        spk = SpikeFn.apply(self.mem, self.cfg.threshold, self.cfg.slope)
        self.mem = self.mem.masked_fill(spk > 0, 0.0)     # hard reset, no gradient through the reset
        return spk


class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.fc1 = nn.Linear(cfg.inputs, cfg.hidden)
        self.lif1 = LIF(cfg.hidden, cfg)
        self.fc2 = nn.Linear(cfg.hidden, cfg.classes)

    def forward(self, spikes):          # T x B x inputs
        self.lif1.reset()
        readout, rates = 0.0, 0.0
        for x in spikes:
            s = self.lif1(self.fc1(x))
            readout = 0.9 * readout + self.fc2(s)
            rates = rates + s.mean()
        return readout / len(spikes), rates / len(spikes)


def encode(cfg, prototypes):
    y = torch.randint(0, cfg.classes, (cfg.batch,))
    p = prototypes[y].expand(cfg.steps, -1, -1)
    return torch.bernoulli(p), y


def main():
    cfg = Config()
    torch.manual_seed(1)
    prototypes = torch.rand(cfg.classes, cfg.inputs) ** 2
    net = Net(cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for i in range(cfg.iters):
        x, y = encode(cfg, prototypes)
        out, rate = net(x)
        loss = nn.functional.cross_entropy(out, y) + cfg.rate_penalty * rate
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"{i}: loss {loss.item():.5f} rate {rate.item():.5f}")
    print(f"decay {net.lif1.decay.mean().item():.6f}")


if __name__ == "__main__":
    main()
