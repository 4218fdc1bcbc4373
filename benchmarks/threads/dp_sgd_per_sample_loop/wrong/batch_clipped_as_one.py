import torch, torch.nn as nn, torch.nn.functional as F
import math, sys

# differentially private SGD, by hand: clip each sample's gradient, sum, add noise.

class DPSGD(torch.optim.SGD):
    """accumulates clipped gradients of single samples; step() adds the noise"""

    def __init__(self, params, lr, l2_norm_clip, noise_multiplier, batch_size, generator):
        super().__init__(params, lr=lr)
        self.C, self.sigma, self.B, self.gen = l2_norm_clip, noise_multiplier, batch_size, generator
        for group in self.param_groups:
            group['accum'] = [torch.zeros_like(p) for p in group['params']]

    def zero_accum_grad(self):
        for group in self.param_groups:
            for a in group['accum']:
                a.zero_()

    def zero_sample_grad(self):
        super().zero_grad()

    def sample_step(self):
        total = 0.
        for group in self.param_groups:
            for p in group['params']:
                total += p.grad.data.norm(2).item() ** 2
        coef = min(self.C / (math.sqrt(total) + 1e-6), 1.)
        for group in self.param_groups:
            for p, a in zip(group['params'], group['accum']):
                a.add_(p.grad.data, alpha=coef)
        return coef

    def step(self, *args, **kwargs):
        for group in self.param_groups:
            for p, a in zip(group['params'], group['accum']):
                noise = torch.randn(p.shape, generator=self.gen) * self.C * self.sigma
                p.grad = (a + noise) / self.B
        super().step(*args, **kwargs)


class Classifier(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 5, stride=2)
        self.norm = nn.GroupNorm(2, 4)
        self.fc = nn.Linear(4 * 8, n)

    def forward(self, x):
        return self.fc(F.relu(self.norm(self.conv(x))).flatten(1))


def batches(n, size):
    g = torch.Generator().manual_seed(2)
    protos = torch.randn(3, 1, 20, generator=g)
    for _ in range(n):
        y = torch.randint(3, (size,), generator=g)
        yield protos[y] + 0.7 * torch.randn(size, 1, 20, generator=g), y


def train(model, optimizer, loader):
    criterion = nn.CrossEntropyLoss(reduction='none')
    for it, (x, y) in enumerate(loader):
        optimizer.zero_accum_grad()
        losses = criterion(model(x), y)             # one loss per sample
        clipped = 0
        optimizer.zero_sample_grad()
        losses.sum().backward()
        clipped += optimizer.sample_step() < 1
        optimizer.step()
        print('%2d  loss %.6f  clipped %d/%d' % (it, losses.mean().item(), clipped, len(losses)))


def main(argv):
    steps = int(argv[1]) if len(argv) > 1 else 6
    torch.manual_seed(8)
    model = Classifier(3)
    opt = DPSGD(model.parameters(), 0.3, 0.8, 0.1, 8, torch.Generator().manual_seed(99))
    train(model, opt, batches(steps, 8))
    print('%.6f' % sum(p.pow(2).sum().item() for p in model.parameters()))


main(sys.argv)
