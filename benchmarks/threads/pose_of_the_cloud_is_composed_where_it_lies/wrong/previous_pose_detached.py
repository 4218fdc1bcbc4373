"""Iterative rigid registration of small point clouds, supervised at every iteration."""
import math

import torch
from torch import nn

torch.manual_seed(5)


def so3_exp(w):
    """Rodrigues' formula, (B, 3) -> (B, 3, 3)."""
    angle = w.norm(dim=-1, keepdim=True).clamp_min(1e-6)
    x, y, z = (w / angle).unbind(-1)
    zero = torch.zeros_like(x)
    K = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).view(-1, 3, 3)
    s, c = torch.sin(angle)[..., None], torch.cos(angle)[..., None]
    return torch.eye(3) + s * K + (1 - c) * (K @ K)


def transform(T, points):
    return points @ T[:, :3, :3].transpose(1, 2) + T[:, None, :3, 3]


class PointEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.local = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, p):
        f = self.local(p)
        return torch.cat([f.mean(1), f.amax(1)], -1)


class RegistrationNet(nn.Module):
    def __init__(self, width=24, iterations=3):
        super().__init__()
        self.iterations = iterations
        self.encoder = PointEncoder(width)
        self.pose = nn.Sequential(nn.Linear(4 * width, width), nn.ReLU(), nn.Linear(width, 6))
        nn.init.uniform_(self.pose[-1].weight, -0.05, 0.05)

    def forward(self, source, reference):
        B = len(source)
        f_ref = self.encoder(reference)
        T = torch.eye(4).repeat(B, 1, 1)
        poses = []
        for _ in range(self.iterations):
            moved = transform(T, source)
            delta = self.pose(torch.cat([self.encoder(moved), f_ref], -1))
            R, t = so3_exp(delta[:, :3]), delta[:, 3:]
            # T <- [R t] T
            old, T = T.detach(), T.detach().clone()
            T[:, :3, :3] = R @ old[:, :3, :3]
            T[:, :3, 3] = (R @ old[:, :3, 3:]).squeeze(-1) + t
            poses.append(T)
        return poses


def registration_loss(poses, T_gt, source, discount=0.5):
    target = transform(T_gt, source)
    n = len(poses)
    losses = [(transform(T, source) - target).abs().mean() for T in poses]
    total = sum(discount ** (n - 1 - i) * l for i, l in enumerate(losses))
    return total, [l.item() for l in losses]


def synthetic(n, points=32, max_angle=0.6, max_shift=0.4):
    src = torch.randn(n, points, 3) * torch.tensor([1.0, 0.6, 0.3])
    axis = nn.functional.normalize(torch.randn(n, 3), dim=-1)
    T = torch.eye(4).repeat(n, 1, 1)
    T[:, :3, :3] = so3_exp(axis * torch.rand(n, 1) * max_angle)
    T[:, :3, 3] = (torch.rand(n, 3) * 2 - 1) * max_shift
    ref = transform(T, src) + 0.01 * torch.randn(n, points, 3)
    return src, ref, T


def angle_error(T, T_gt):
    trace = (T[:, :3, :3].transpose(1, 2) @ T_gt[:, :3, :3]).diagonal(dim1=1, dim2=2).sum(-1)
    return torch.rad2deg(torch.acos(((trace - 1) / 2).clamp(-1 + 1e-6, 1 - 1e-6))).mean()


def main():
    src, ref, T_gt = synthetic(64)
    net = RegistrationNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(1, 6):
        sums = [0.0] * net.iterations
        for idx in torch.randperm(len(src)).split(16):
            poses = net(src[idx], ref[idx])
            loss, parts = registration_loss(poses, T_gt[idx], src[idx])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            sums = [a + b / 4 for a, b in zip(sums, parts)]
        with torch.no_grad():
            error = angle_error(net(src, ref)[-1], T_gt).item()
        print(epoch, " ".join("it%d %.5f" % (i + 1, s) for i, s in enumerate(sums)), "angle %.4f" % error)


if __name__ == "__main__":
    main()
