import dataclasses
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclasses.dataclass
class Config:
    dim: int = 10
    steps: int = 7
    batch: int = 12
    lr: float = 6e-3
    drift_weight: float = 0.5
    iters: int = 6


class AssociativeMemory(nn.Module):
    """Linear attention with a gated matrix memory (one matrix per sequence)."""

    def __init__(self, cfg):
        super().__init__()
        d = cfg.dim
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.gate = nn.Linear(d, 1)
        self.out = nn.Linear(d, d)

    def forward(self, xs):
        B, T, d = xs.shape
        memory = xs.new_zeros(B, d, d)
        outputs, drift = [], xs.new_zeros(())
        for t in range(T):
            x = xs[:, t]
            q, k, v = self.q(x), F.normalize(self.k(x), dim=-1), self.v(x)
            previous = memory
            surprise = v - torch.einsum('bij,bj->bi', memory, k)
            memory *= torch.sigmoid(self.gate(x)).unsqueeze(-1)
            memory += surprise.unsqueeze(-1) * k.unsqueeze(1)
            # keep the memory from being rewritten at every token
            drift = drift + (memory - previous).pow(2).sum((1, 2)).mean()
            outputs.append(self.out(torch.einsum('bij,bj->bi', memory, q)))
        return torch.stack(outputs, 1), drift / T


class Recall:
    """key value key value ... key ?"""

    def __init__(self, cfg):
        self.cfg = cfg
        self.proj = torch.randn(cfg.dim, cfg.dim) / cfg.dim ** 0.5

    def batch(self):
        x = torch.randn(self.cfg.batch, self.cfg.steps, self.cfg.dim)
        y = torch.cumsum(x @ self.proj, 1) / torch.arange(1, self.cfg.steps + 1).view(1, -1, 1)
        return x, y


def run(cfg):
    torch.manual_seed(21)
    data, net = Recall(cfg), AssociativeMemory(cfg)
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr, weight_decay=0.01)
    for i in range(cfg.iters):
        x, y = data.batch()
        pred, drift = net(x)
        task = F.mse_loss(pred, y)
        loss = task + cfg.drift_weight * drift
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        print(f'{i}: task={task.item():.5f} drift={drift.item():.5f}')


if __name__ == '__main__':
    run(Config())
