"""Joint refinement of camera poses and a small radiance-like field (toy, 2D).

Poses live on SE(2): the optimizer moves a tangent vector, after every step it is folded into the pose and reset.
"""
import math

import torch
import torch.nn as nn


def se2_exp(xi):
    """(N, 3) tangent -> (N, 3, 3)"""
    th = xi[:, 2]
    c, s = torch.cos(th), torch.sin(th)
    z, o = torch.zeros_like(c), torch.ones_like(c)
    return torch.stack([torch.stack([c, -s, xi[:, 0]], -1),
                        torch.stack([s, c, xi[:, 1]], -1),
                        torch.stack([z, z, o], -1)], 1)


class CameraSet(nn.Module):
    def __init__(self, init):
        super().__init__()
        self.register_buffer('pose', init.clone())
        self.delta = nn.Parameter(torch.zeros(init.shape[0], 3))

    def forward(self, idx):
        return self.pose[idx] @ se2_exp(self.delta[idx])

    def retract(self):
        self.pose.copy_(self.pose @ se2_exp(self.delta))
        self.delta.zero_()


class Field(nn.Module):
    def __init__(self, n_freq=4, hidden=32):
        super().__init__()
        self.register_buffer('freq', 2.0 ** torch.arange(n_freq) * math.pi / 4)
        self.mlp = nn.Sequential(nn.Linear(4 * n_freq, hidden), nn.ReLU(), nn.Linear(hidden, 3), nn.Sigmoid())

    def forward(self, xy):
        a = (xy[..., None] * self.freq).flatten(-2)
        return self.mlp(torch.cat([a.sin(), a.cos()], -1))


def scene(xy):
    return torch.stack([torch.sin(2 * xy[..., 0]), torch.cos(xy[..., 1]), torch.tanh(xy.sum(-1))], -1) * 0.4 + 0.5


class Refiner:
    def __init__(self, n_cams=5):
        xi = torch.cat([torch.randn(n_cams, 2), torch.rand(n_cams, 1)], 1)
        self.true_pose = se2_exp(xi)
        noisy = self.true_pose @ se2_exp(0.15 * torch.randn(n_cams, 3))
        self.cams, self.field, self.n = CameraSet(noisy), Field(), n_cams
        self.opt_field = torch.optim.Adam(self.field.parameters(), lr=1e-2)
        self.opt_pose = torch.optim.SGD(self.cams.parameters(), lr=2e-1)

    def step(self, rays=48):
        idx = torch.randint(0, self.n, (rays,))
        pix = torch.cat([torch.rand(rays, 2) * 2 - 1, torch.ones(rays, 1)], 1)
        target = scene((self.true_pose[idx] @ pix[..., None])[:, :2, 0])
        pts = (self.cams(idx) @ pix[..., None])[:, :2, 0]
        loss = (self.field(pts) - target).pow(2).mean()
        self.opt_field.zero_grad()
        self.opt_pose.zero_grad()
        loss.backward()
        self.opt_field.step()
        self.opt_pose.step()
        with torch.no_grad():
            self.cams.retract()
        return loss.item()

    def pose_error(self):
        return (self.cams.pose - self.true_pose).abs().mean().item()


if __name__ == '__main__':
    torch.manual_seed(8)
    r = Refiner()
    for it in range(10):
        loss = r.step()
        if it % 3 == 0:
            print(f'{it:2d} loss {loss:.6f} pose error {r.pose_error():.6f}')
