# TabNet (small) for churn prediction. 参考 https://arxiv.org/abs/1908.07442
import argparse
import os
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Config:
    n_features: int = 12
    n_d: int = 8
    n_a: int = 8
    n_steps: int = 3
    gamma: float = 1.3
    lambda_sparse: float = 1e-3
    batch_size: int = 64
    virtual_batch: int = 32
    lr: float = 2e-2
    epochs: int = 4


def load_customers(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 12)).astype("float32")
    x[:, 3] = np.exp(0.5 * x[:, 3])                 # monthly charge
    x[:, 7] = rng.integers(0, 4, n)                 # contract type
    logit = 1.4 * x[:, 0] * (x[:, 7] > 1) - 0.9 * x[:, 3] + 0.8 * np.abs(x[:, 5])
    y = (logit + 0.3 * rng.normal(size=n) > 0.1).astype("int64")
    return torch.from_numpy(x), torch.from_numpy(y)


def sparsemax(z):
    z = z - z.max(dim=-1, keepdim=True).values
    srt, _ = torch.sort(z, dim=-1, descending=True)
    rank = torch.arange(1, z.size(-1) + 1, dtype=z.dtype)
    cum = srt.cumsum(-1)
    support = (1 + rank * srt > cum).sum(-1, keepdim=True)
    tau = (cum.gather(-1, support - 1) - 1) / support
    return F.relu(z - tau)


class GhostBatchNorm(nn.Module):
    def __init__(self, dim, virtual_batch, momentum=0.02):
        super().__init__()
        self.virtual_batch = virtual_batch
        self.bn = nn.BatchNorm1d(dim, momentum=momentum)

    def forward(self, x):
        if not self.training:
            return self.bn(x)
        return torch.cat([self.bn(c) for c in x.split(self.virtual_batch)])


class GLUBlock(nn.Module):
    def __init__(self, n_in, n_out, vb):
        super().__init__()
        self.fc = nn.Linear(n_in, 2 * n_out, bias=False)
        self.bn = GhostBatchNorm(2 * n_out, vb)

    def forward(self, x):
        return F.glu(self.bn(self.fc(x)))


class FeatureTransformer(nn.Module):
    def __init__(self, shared, n_out, vb):
        super().__init__()
        self.shared = shared
        self.own = GLUBlock(n_out, n_out, vb)

    def forward(self, x):
        h = self.shared(x)
        return (h + self.own(h)) * 0.5 ** 0.5


class AttentiveTransformer(nn.Module):
    def __init__(self, n_a, n_features, vb):
        super().__init__()
        self.fc = nn.Linear(n_a, n_features, bias=False)
        self.bn = GhostBatchNorm(n_features, vb)

    def forward(self, prior, a):
        return sparsemax(prior * self.bn(self.fc(a)))


class TabNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        width = cfg.n_d + cfg.n_a
        shared = GLUBlock(cfg.n_features, width, cfg.virtual_batch)
        self.norm = nn.BatchNorm1d(cfg.n_features)
        self.first = FeatureTransformer(shared, width, cfg.virtual_batch)
        self.attentive = nn.ModuleList(
            [AttentiveTransformer(cfg.n_a, cfg.n_features, cfg.virtual_batch) for _ in range(cfg.n_steps)])
        self.transform = nn.ModuleList(
            [FeatureTransformer(shared, width, cfg.virtual_batch) for _ in range(cfg.n_steps)])
        self.head = nn.Linear(cfg.n_d, 2)

    def forward(self, x):
        x = self.norm(x)
        a = self.first(x)[:, self.cfg.n_d:]
        prior = torch.ones_like(x)
        decision, entropy = 0, 0
        for att, ft in zip(self.attentive, self.transform):
            mask = att(prior, a)
            entropy = entropy - (mask * torch.log(mask + 1e-10)).sum(1).mean() / self.cfg.n_steps
            # 已经用过的特征，下一步权重变小
            prior.data *= (self.cfg.gamma - mask).data
            h = ft(mask * x)
            decision = decision + F.relu(h[:, :self.cfg.n_d])
            a = h[:, self.cfg.n_d:]
        return self.head(decision), entropy


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits, _ = model(x)
        acc = (logits.argmax(1) == y).float().mean().item()
        return F.cross_entropy(logits, y).item(), acc


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=9)
    args = ap.parse_args()
    cfg = Config()
    torch.manual_seed(args.seed)

    x_tr, y_tr = load_customers(256, args.seed)
    x_va, y_va = load_customers(128, args.seed + 1)
    model = TabNet(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.7)

    best = 1e9
    with tempfile.TemporaryDirectory() as out:
        for epoch in range(cfg.epochs):
            model.train()
            total = 0.
            for idx in torch.randperm(len(x_tr)).split(cfg.batch_size):
                logits, entropy = model(x_tr[idx])
                loss = F.cross_entropy(logits, y_tr[idx]) + cfg.lambda_sparse * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                total += loss.item() * len(idx)
            scheduler.step()
            va, acc = evaluate(model, x_va, y_va)
            print(f"epoch {epoch}: train {total / len(x_tr):.6f}, valid {va:.6f}, acc {acc:.4f}, entropy {entropy.item():.5f}")
            if va < best:
                best = va
                torch.save(model.state_dict(), os.path.join(out, "tabnet_best.pt"))
    print(f"best valid loss {best:.6f}")


if __name__ == "__main__":
    main()
