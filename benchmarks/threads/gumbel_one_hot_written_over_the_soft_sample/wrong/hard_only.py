import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

"""
離散潜在変数の自己符号化器（Gumbel-Softmax, DALL-E 風）
  --hard を付けると前向きは one-hot、勾配は連続サンプルのもの（ストレートスルー）
"""


def gumbel_like(t):
    u = torch.rand_like(t).clamp_(1e-6, 1 - 1e-6)
    return -torch.log(-torch.log(u))


class GumbelSampler(nn.Module):
    def __init__(self, tau=1.0, hard=True):
        super().__init__()
        self.tau, self.hard = tau, hard

    def forward(self, logits):
        y_soft = F.softmax((logits + gumbel_like(logits)) / self.tau, dim=-1)
        if not self.hard:
            return y_soft
        # 前向き：one-hot、後ろ向き：y_soft
        index = y_soft.argmax(dim=-1, keepdim=True)
        y_hard = torch.zeros_like(y_soft).scatter_(-1, index, 1.0)
        return y_hard


class DiscreteVAE(nn.Module):
    def __init__(self, dim=20, n_codes=8, n_slots=4, width=32):
        super().__init__()
        self.n_codes, self.n_slots = n_codes, n_slots
        self.enc = nn.Sequential(nn.Linear(dim, width), nn.ReLU(), nn.Linear(width, n_slots * n_codes))
        self.sampler = GumbelSampler()
        self.codebook = nn.Parameter(torch.randn(n_codes, 6) * 0.3)
        self.dec = nn.Sequential(nn.Linear(n_slots * 6, width), nn.ReLU(), nn.Linear(width, dim))

    def forward(self, x):
        logits = self.enc(x).view(-1, self.n_slots, self.n_codes)
        y = self.sampler(logits)
        out = self.dec((y @ self.codebook).flatten(1))
        return out, logits, y


def kl_to_uniform(logits):
    logq = F.log_softmax(logits, dim=-1)
    return (logq.exp() * (logq + torch.log(torch.tensor(float(logits.shape[-1]))))).sum(dim=(1, 2)).mean()


class Trainer:
    def __init__(self, model, lr, beta):
        self.model = model
        self.beta = beta
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def step(self, x):
        self.model.train()
        out, logits, y = self.model(x)
        rec = F.mse_loss(out, x)
        loss = rec + self.beta * kl_to_uniform(logits)
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return rec.item(), loss.item(), (y.detach().sum(dim=(0, 1)) > 0.5).sum().item()

    def anneal(self, k):
        self.model.sampler.tau = max(0.5, self.model.sampler.tau * (1 - 0.02 * k))


def toy(n, dim, g):
    centers = torch.randn(5, dim, generator=g)
    while True:
        k = torch.randint(0, 5, (n,), generator=g)
        yield centers[k] + 0.1 * torch.randn(n, dim, generator=g)


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--iters', type=int, default=12)
    p.add_argument('--lr', type=float, default=5e-3)
    p.add_argument('--beta', type=float, default=1e-3)
    p.add_argument('--soft', action='store_true')
    a = p.parse_args()

    torch.manual_seed(11)
    data = toy(32, 20, torch.Generator().manual_seed(5))
    model = DiscreteVAE()
    model.sampler.hard = not a.soft
    trainer = Trainer(model, a.lr, a.beta)
    for it in range(a.iters):
        rec, loss, used = trainer.step(next(data))
        trainer.anneal(it)
        if it % 3 == 2:
            print('iter %d  rec %.6f  loss %.6f  使用コード %d' % (it, rec, loss, used))
    print('encoder %.6f' % model.enc[0].weight.norm().item())
