"""TRADES (Zhang et al. 2019) on two interleaved half circles."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
EPS, ALPHA, INNER, BETA = 0.25, 0.08, 1, 3.0


def two_moons(n):
    t = torch.rand(n) * math.pi
    y = torch.arange(n) % 2
    x = torch.stack([torch.cos(t), torch.sin(t)], 1)
    x = torch.where(y[:, None] == 1, torch.stack([1 - x[:, 0], 0.4 - x[:, 1]], 1), x)
    return x + 0.08 * torch.randn(n, 2), y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.out = nn.Linear(32, 2)

    def forward(self, x):
        return self.out(self.body(x))


def kl(p, logits):
    return F.kl_div(F.log_softmax(logits, 1), p, reduction="batchmean")


def find_adversary(model, x, p_natural):
    """Maximises KL(p_natural || p(x_adv)) within the ball."""
    x_adv = x + 0.001 * torch.randn_like(x)
    for _ in range(INNER):
        x_adv.requires_grad_()
        loss = kl(p_natural, model(x_adv))
        loss.backward()
        x_adv = (x_adv + ALPHA * x_adv.grad.sign()).detach()
        x_adv = torch.min(torch.max(x_adv, x - EPS), x + EPS)
    return x_adv


def trades_loss(model, x, y, optimizer):
    logits = model(x)
    p_natural = logits.softmax(1)
    x_adv = find_adversary(model, x, p_natural.detach())

    optimizer.zero_grad()
    natural = F.cross_entropy(logits, y)
    robust = kl(p_natural, model(x_adv))
    return natural + BETA * robust, natural, robust


def evaluate(model, x, y):
    clean = (model(x).argmax(1) == y).float().mean()
    x_adv = x.clone().requires_grad_()
    grad, = torch.autograd.grad(F.cross_entropy(model(x_adv), y), x_adv)
    attacked = (model(x + EPS * grad.sign()).argmax(1) == y).float().mean()
    return clean.item(), attacked.item()


def main():
    x, y = two_moons(256)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(3):
        order = torch.randperm(len(x))
        for idx in order.split(64):
            loss, natural, robust = trades_loss(model, x[idx], y[idx], optimizer)
            loss.backward()
            optimizer.step()
        clean, attacked = evaluate(model, x, y)
        print(f"epoch {epoch} natural {natural.item():.4f} robust {robust.item():.5f} clean {clean:.3f} attacked {attacked:.3f}")


if __name__ == "__main__":
    main()
