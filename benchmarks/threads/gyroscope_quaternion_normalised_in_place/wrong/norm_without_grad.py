"""Learned gyroscope calibration: corrections from a GRU, orientation by integration of quaternions."""
import math
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Opts:
    n_seq: int = 12
    length: int = 10
    dt: float = 0.05
    hidden: int = 16
    batch: int = 6
    epochs: int = 4
    lr: float = 1e-2
    seed: int = 4


def quat_mul(p, q):
    pw, px, py, pz = p.unbind(-1)
    qw, qx, qy, qz = q.unbind(-1)
    return torch.stack([
        pw * qw - px * qx - py * qy - pz * qz,
        pw * qx + px * qw + py * qz - pz * qy,
        pw * qy - px * qz + py * qw + pz * qx,
        pw * qz + px * qy - py * qx + pz * qw,
    ], -1)


def integrate(omega, q0, dt):
    """omega: (B, T, 3) in rad/s -> orientations (B, T, 4), each a unit quaternion"""
    q = q0
    out = []
    for t in range(omega.shape[1]):
        w = torch.cat([torch.zeros_like(omega[:, t, :1]), omega[:, t]], -1)
        q = q + 0.5 * dt * quat_mul(q, w)
        with torch.no_grad():
            n = q.norm(dim=-1, keepdim=True)
        q = q / n
        out.append(q)
    return torch.stack(out, 1)


class GyroNet(nn.Module):
    """Removes scale error and drifting bias from raw readings."""

    def __init__(self, hidden):
        super().__init__()
        self.gru = nn.GRU(6, hidden, batch_first=True)
        self.bias = nn.Linear(hidden, 3)
        self.scale = nn.Parameter(torch.ones(3))
        nn.init.zeros_(self.bias.weight)
        nn.init.zeros_(self.bias.bias)

    def forward(self, gyro, accel):
        h, _ = self.gru(torch.cat([gyro, accel], -1))
        return self.scale * gyro - self.bias(h)


def simulate(o):
    g = torch.Generator().manual_seed(o.seed)
    t = torch.arange(o.length) * o.dt
    amp = torch.randn(o.n_seq, 1, 3, generator=g) * 3
    phase = torch.rand(o.n_seq, 1, 3, generator=g) * 2 * math.pi
    true = amp * torch.sin(4 * t.view(1, -1, 1) + phase)
    q0 = torch.tensor([1.0, 0.0, 0.0, 0.0]).repeat(o.n_seq, 1)
    q = integrate(true, q0, o.dt)
    gyro = 1.1 * true + 0.4 + 0.05 * torch.randn(true.shape, generator=g)
    accel = q[..., 1:] + 0.1 * torch.randn(true.shape, generator=g)
    return gyro, accel, q0, q


def geodesic(q, ref):
    """1 - <q, ref>^2, blind to the sign of a quaternion"""
    return (1 - (q * ref).sum(-1) ** 2).mean()


def main():
    o = Opts()
    torch.manual_seed(o.seed)
    gyro, accel, q0, ref = simulate(o)
    net = GyroNet(o.hidden)
    opt = torch.optim.Adam(net.parameters(), lr=o.lr)
    for epoch in range(o.epochs):
        total = 0.0
        for b in torch.randperm(o.n_seq).split(o.batch):
            q = integrate(net(gyro[b], accel[b]), q0[b], o.dt)
            loss = geodesic(q, ref[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(b)
        print(f"epoch {epoch}: loss {total / o.n_seq:.7f} scale {net.scale.mean().item():.6f}")


if __name__ == "__main__":
    main()
