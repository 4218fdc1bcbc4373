import json
import torch
import torch.nn as nn
import torch.nn.functional as F

CFG = json.loads('{"k": 3, "alpha": 0.5, "lr": 0.05, "steps": 12, "batch": 24, "seed": 19}')


class Lookahead:
    """k steps forward, 1 step back. Wraps any optimizer."""

    def __init__(self, base, k, alpha):
        self.base, self.k, self.alpha = base, k, alpha
        self.param_groups = base.param_groups
        self.slow = [[p.clone() for p in group['params']] for group in self.param_groups]
        self.counter = 0

    def zero_grad(self):
        self.base.zero_grad()

    def sync(self):
        for group, slow in zip(self.param_groups, self.slow):
            for p, s in zip(group['params'], slow):
                s.data += self.alpha * (p.data - s.data)
                p.data = s.data

    def step(self):
        self.base.step()
        self.counter += 1
        if self.counter % self.k == 0:
            self.sync()


class Mixer(nn.Module):
    def __init__(self, tokens=6, dim=8, n_classes=3):
        super().__init__()
        self.n1, self.n2, self.n3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.tok = nn.Sequential(nn.Linear(tokens, 12), nn.GELU(), nn.Linear(12, tokens))
        self.ch = nn.Sequential(nn.Linear(dim, 16), nn.GELU(), nn.Linear(16, dim))
        self.head = nn.Linear(dim, n_classes)

    def forward(self, x):
        x = x + self.tok(self.n1(x).transpose(1, 2)).transpose(1, 2)
        x = x + self.ch(self.n2(x))
        return self.head(self.n3(x).mean(1))


def batch(n):
    y = torch.randint(0, 3, (n,))
    x = torch.randn(n, 6, 8)
    x[:, :, 0] += (y - 1.0)[:, None]
    return x, y


def split_decay(model):
    decay = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    return [{'params': decay, 'weight_decay': 1e-2}, {'params': rest, 'weight_decay': 0.0}]


def main():
    torch.manual_seed(CFG['seed'])
    model = Mixer()
    base = torch.optim.SGD(split_decay(model), lr=CFG['lr'], momentum=0.9)
    opt = Lookahead(base, CFG['k'], CFG['alpha'])
    for step in range(CFG['steps']):
        x, y = batch(CFG['batch'])
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (step + 1) % 3 == 0:
            gap = sum((p - s).abs().sum().item() for g, sl in zip(opt.param_groups, opt.slow) for p, s in zip(g['params'], sl))
            print(f"{step + 1:2d} loss {loss.item():.5f} |fast - slow| {gap:.5f} norm {model.head.weight.norm().item():.5f}")


if __name__ == '__main__':
    main()
