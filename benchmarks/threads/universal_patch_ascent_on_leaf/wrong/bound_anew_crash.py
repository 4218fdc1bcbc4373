"""Universal adversarial patch against a frozen ensemble, PGD with momentum written by hand."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument('--eps', type=float, default=0.35)
ap.add_argument('--step-size', type=float, default=0.12)
ap.add_argument('--mu', type=float, default=0.6)
ap.add_argument('--iters', type=int, default=8)
ap.add_argument('--finetune-lr', type=float, default=0.02, help='the defender answers every iteration')


def victim(seed):
    g = torch.Generator().manual_seed(seed)
    net = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(72, 4))
    for p in net.parameters():
        p.data.copy_(torch.randn(p.shape, generator=g) * (0.3 if p.ndim > 1 else 0.05))
    return net


def faces(n):
    y = torch.randint(0, 4, (n,))
    x = torch.rand(n, 1, 9, 9) * 0.3
    for i, c in enumerate(y.tolist()):
        x[i, 0, 2 * c:2 * c + 3, 2:7] += 0.6
    return x, y


class PatchAttack:
    def __init__(self, args):
        self.args = args
        self.patch = torch.zeros(1, 1, 4, 4, requires_grad=True)
        self.velocity = torch.zeros(1, 1, 4, 4)

    def apply(self, x):
        pad = F.pad(self.patch, (0, 5, 5, 0))
        return (x + pad).clamp(0, 1)

    def ascend(self, models, x, y):
        loss = sum(F.cross_entropy(m(self.apply(x)), y) for m in models) / len(models)
        loss.backward()
        g = self.patch.grad
        self.velocity = self.args.mu * self.velocity + g / g.abs().mean().clamp_min(1e-12)
        self.patch = self.patch + self.args.step_size * self.velocity.sign()
        self.patch = self.patch.clamp(-self.args.eps, self.args.eps)
        self.patch.grad.zero_()
        return loss.item()


def main():
    args = ap.parse_args()
    torch.manual_seed(13)
    models = [victim(s) for s in (1, 2)]
    attack = PatchAttack(args)
    defender = torch.optim.SGD([p for m in models for p in m.parameters()], lr=args.finetune_lr)
    for it in range(args.iters):
        x, y = faces(20)
        adv = attack.ascend(models, x, y)
        defender.zero_grad()
        loss = sum(F.cross_entropy(m(attack.apply(x).detach()), y) for m in models)
        loss.backward()
        defender.step()
        print('%d adversarial %.5f defended %.5f |patch| %.5f' % (it, adv, loss.item(), attack.patch.abs().sum().item()))


if __name__ == '__main__':
    main()
