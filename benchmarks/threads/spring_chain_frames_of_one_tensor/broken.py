#!/usr/bin/env python
# system identification of a hanging spring chain: fit stiffness and damping to tracked marker positions
import torch
import torch.nn as nn


class Chain(nn.Module):
    """masses on springs, semi-implicit; node 0 is fixed to the wall"""

    def __init__(self, n, dt=0.05, k=8.0, c=0.1, rest=0.5):
        super().__init__()
        self.n, self.dt, self.rest = n, dt, rest
        self.log_k = nn.Parameter(torch.full((n - 1,), float(k)).log())
        self.log_c = nn.Parameter(torch.tensor(float(c)).log())
        self.register_buffer("gravity", torch.tensor([0.0, -1.0]))
        mask = torch.ones(n, 1)
        mask[0] = 0.0
        self.register_buffer("free", mask)

    def accel(self, q, v):
        d = q[1:] - q[:-1]
        length = d.norm(dim=1, keepdim=True)
        f = self.log_k.exp()[:, None] * (length - self.rest) * d / length
        zero = torch.zeros(1, 2)
        total = torch.cat([f, zero]) - torch.cat([zero, f])
        total = total - self.log_c.exp() * v * v.abs() + self.gravity
        return total * self.free

    def forward(self, q0, v0, steps):
        q, v = q0.clone(), v0.clone()
        h = self.dt
        frames, energy = [], []
        for _ in range(steps):
            v += h * self.accel(q, v)
            q += h * v
            frames.append(q)
            energy.append(0.5 * (v ** 2).sum().item())
        self.last_energy = energy[-1]
        return torch.stack(frames)          # steps x n x 2


def start(n, rest=0.5):
    q = torch.zeros(n, 2)
    q[:, 0] = torch.arange(n) * rest * 1.2
    return q, torch.zeros(n, 2)


def track(n, steps):
    """markers from the 'camera'"""
    with torch.no_grad():
        real = Chain(n, k=14.0, c=0.4)
        q, v = start(n)
        out = []
        for _ in range(steps):
            v = v + real.dt * real.accel(q, v)
            q = q + real.dt * v
            out.append(q + 0.002 * torch.randn_like(q))
    return torch.stack(out)


def main():
    torch.manual_seed(7)
    n, steps = 5, 12
    markers = track(n, steps)
    sim = Chain(n)
    opt = torch.optim.Adam(sim.parameters(), lr=0.05)
    q0, v0 = start(n)
    for it in range(10):
        opt.zero_grad()
        path = sim(q0, v0, steps)
        loss = ((path - markers) ** 2).sum(-1).mean()
        loss.backward()
        opt.step()
        if it % 3 == 0:
            print("iter %02d  loss %.6f  Ekin %.5f" % (it, loss.item(), sim.last_energy))
    print("k", [round(x, 5) for x in sim.log_k.exp().tolist()], "c", round(sim.log_c.exp().item(), 5))


if __name__ == "__main__":
    main()
