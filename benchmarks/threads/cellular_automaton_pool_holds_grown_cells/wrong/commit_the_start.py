# Growing neural cellular automata, "experiment 2": a pool of earlier states so that the pattern persists.
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CHANNELS = 8
SIZE = 9


class CAModel(nn.Module):
    def __init__(self, channel_n, fire_rate=0.5, hidden=24):
        super().__init__()
        self.channel_n = channel_n
        self.fire_rate = fire_rate
        self.fc0 = nn.Conv2d(channel_n * 3, hidden, 1)
        self.fc1 = nn.Conv2d(hidden, channel_n, 1, bias=False)
        nn.init.normal_(self.fc1.weight, std=0.02)
        dx = torch.outer(torch.tensor([1., 2., 1.]), torch.tensor([-1., 0., 1.])) / 8.0
        kernel = torch.stack([dx, dx.t()])[:, None].repeat(channel_n, 1, 1, 1)
        self.register_buffer("kernel", kernel)

    def alive(self, x):
        return F.max_pool2d(x[:, 3:4], 3, stride=1, padding=1) > 0.1

    def perceive(self, x):
        return torch.cat([x, F.conv2d(x, self.kernel, padding=1, groups=self.channel_n)], 1)

    def update(self, x):
        pre = self.alive(x)
        dx = self.fc1(F.relu(self.fc0(self.perceive(x))))
        fire = (torch.rand(x.size(0), 1, x.size(2), x.size(3)) <= self.fire_rate).float()
        x = x + dx * fire
        return x * (pre & self.alive(x)).float()

    def forward(self, x, steps):
        for _ in range(steps):
            x = self.update(x)
        return x


class SamplePool:
    def __init__(self, seed, size):
        self.seed = seed
        self.slots = [seed.clone() for _ in range(size)]

    def sample(self, n, rng):
        idx = rng.choice(len(self.slots), n, replace=False)
        return idx, torch.stack([self.slots[i] for i in idx])

    def commit(self, idx, cells):
        for i, c in zip(idx, cells):
            self.slots[i] = c


def make_target():
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
    a = ((xx ** 2 + yy ** 2) < 0.6).float()
    return torch.stack([a * (xx * 0.5 + 0.5), a * 0.3, a * (yy * 0.5 + 0.5), a])


def per_sample_loss(x, target):
    return ((x[:, :4] - target) ** 2).mean(dim=(1, 2, 3))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pool_size", default=24, type=int)
    parser.add_argument("--batch", default=4, type=int)
    parser.add_argument("--iterations", default=12, type=int)
    parser.add_argument("--damage_n", default=0, type=int)   # experiment 3, not used yet
    args = parser.parse_args()

    torch.manual_seed(0)
    rng = np.random.RandomState(10)
    seed = torch.zeros(CHANNELS, SIZE, SIZE)
    seed[3:, SIZE // 2, SIZE // 2] = 1.0
    target = make_target()
    pool = SamplePool(seed, args.pool_size)
    ca = CAModel(CHANNELS)
    opt = torch.optim.Adam(ca.parameters(), lr=2e-3, betas=(0.5, 0.5))

    for it in range(args.iterations):
        idx, x0 = pool.sample(args.batch, rng)
        # the worst one starts again from the seed
        order = per_sample_loss(x0, target).argsort(descending=True).tolist()
        x0 = torch.stack([seed if k == 0 else x0[j] for k, j in enumerate(order)])
        idx = idx[order]

        x = ca(x0, steps=rng.randint(3, 6))
        loss = per_sample_loss(x, target).mean()
        opt.zero_grad()
        loss.backward()
        for p in ca.parameters():
            p.grad /= (p.grad.norm() + 1e-8)
        opt.step()
        pool.commit(idx, x0.detach())
        print("step %d  log10(loss) %.6f" % (it, np.log10(loss.item())))


if __name__ == "__main__":
    main()
