"""Spiking MLP with a surrogate gradient (fast sigmoid), rate-coded toy patterns."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_in: int = 20
    n_hidden: int = 32
    n_out: int = 3
    T: int = 12
    beta: float = 0.9
    threshold: float = 1.0
    slope: float = 5.0
    lr: float = 5e-3
    epochs: int = 5
    batch_size: int = 16
    seed: int = 42


class SurrogateSpike(torch.autograd.Function):
    """
    Heaviside in the forward pass, derivative of a fast sigmoid in the backward pass:
        grad = grad_output / (slope * |u| + 1)^2
    """

    @staticmethod
    def forward(ctx, u, slope):
        return (u > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


class LIF(nn.Module):
    def __init__(self, beta, threshold, slope):
        super().__init__()
        self.beta = beta
        self.threshold = threshold
        self.slope = slope

    def forward(self, current, mem):
        mem = self.beta * mem + current
        spike = SurrogateSpike.apply(mem - self.threshold, self.slope)
        mem = mem - spike.detach() * self.threshold
        return spike, mem


class SpikingNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.fc1 = nn.Linear(cfg.n_in, cfg.n_hidden)
        self.lif1 = LIF(cfg.beta, cfg.threshold, cfg.slope)
        self.fc2 = nn.Linear(cfg.n_hidden, cfg.n_out)
        self.lif2 = LIF(cfg.beta, cfg.threshold, cfg.slope)

    def forward(self, x):
        # x: [T, B, n_in]
        batch = x.size(1)
        mem1 = torch.zeros(batch, self.cfg.n_hidden)
        mem2 = torch.zeros(batch, self.cfg.n_out)
        out_spikes, out_mem = [], []
        for t in range(x.size(0)):
            spk1, mem1 = self.lif1(self.fc1(x[t]), mem1)
            spk2, mem2 = self.lif2(self.fc2(spk1), mem2)
            out_spikes.append(spk2)
            out_mem.append(mem2)
        return torch.stack(out_spikes), torch.stack(out_mem)


def make_patterns(cfg, n=96):
    rates = torch.rand(cfg.n_out, cfg.n_in) * 0.8
    labels = torch.arange(n) % cfg.n_out
    spikes = (torch.rand(cfg.T, n, cfg.n_in) < rates[labels]).float()
    return spikes, labels


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    spikes, labels = make_patterns(cfg)
    net = SpikingNet(cfg)
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr, betas=(0.9, 0.999))

    for epoch in range(cfg.epochs):
        order = torch.randperm(len(labels))
        total, correct = 0.0, 0
        for i in range(0, len(order), cfg.batch_size):
            idx = order[i:i + cfg.batch_size]
            spk, mem = net(spikes[:, idx])
            loss = sum(F.cross_entropy(m, labels[idx]) for m in mem) / cfg.T
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
            correct += (spk.sum(0).argmax(1) == labels[idx]).sum().item()
        print(f"Epoch {epoch}: loss {total / len(labels):.4f} acc {correct / len(labels):.3f}")


if __name__ == "__main__":
    main()
