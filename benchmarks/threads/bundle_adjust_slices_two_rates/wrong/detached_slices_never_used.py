# toy bundle adjustment: 5 cameras see 20 points, refine poses (axis-angle | translation) and points jointly.
# rotations want a smaller learning rate than translations -> two parameter groups.
from collections import OrderedDict

import numpy as np
import torch

FOCAL = 2.0


def skew(w):
    z = torch.zeros_like(w[:, 0])
    return torch.stack([z, -w[:, 2], w[:, 1], w[:, 2], z, -w[:, 0], -w[:, 1], w[:, 0], z], 1).view(-1, 3, 3)


def rodrigues(w):
    theta = (w.pow(2).sum(1) + 1e-8).sqrt()[:, None, None]
    k = skew(w) / theta
    eye = torch.eye(3).expand_as(k)
    return eye + torch.sin(theta) * k + (1 - torch.cos(theta)) * (k @ k)


def project(poses, points):
    R, t = rodrigues(poses[:, :3]), poses[:, 3:]
    cam = torch.einsum("cij,pj->cpi", R, points) + t[:, None]
    return FOCAL * cam[..., :2] / cam[..., 2:].clamp(min=0.1)


def huber(r, delta=0.1):
    a = r.norm(dim=-1)
    return torch.where(a < delta, 0.5 * a ** 2 / delta, a - 0.5 * delta).mean()


class Scene:
    def __init__(self, n_cam=5, n_pts=20, seed=0):
        rng = np.random.RandomState(seed)
        w = 0.2 * rng.randn(n_cam, 3)
        t = np.concatenate([0.3 * rng.randn(n_cam, 2), 4 + 0.2 * rng.randn(n_cam, 1)], 1)
        self.true_poses = torch.tensor(np.concatenate([w, t], 1), dtype=torch.float32)
        self.true_points = torch.tensor(rng.uniform(-1, 1, (n_pts, 3)), dtype=torch.float32)
        self.obs = project(self.true_poses, self.true_points) + torch.tensor(0.002 * rng.randn(n_cam, n_pts, 2), dtype=torch.float32)

    def initial(self):
        poses = self.true_poses + 0.05 * torch.randn_like(self.true_poses)
        points = self.true_points + 0.05 * torch.randn_like(self.true_points)
        return poses, points


def refine(scene, iters=10, lr_rot=2e-3, lr_trans=1e-2, lr_pts=5e-3):
    poses, points = scene.initial()
    poses = poses.clone().requires_grad_(True)
    points = points.clone().requires_grad_(True)
    groups = OrderedDict(rot=(poses[:, :3].detach().requires_grad_(), lr_rot), trans=(poses[:, 3:].detach().requires_grad_(), lr_trans), points=(points, lr_pts))
    optimizer = torch.optim.Adam([{"params": [p], "lr": lr, "name": name} for name, (p, lr) in groups.items()])
    for it in range(iters):
        loss = huber(project(poses, points) - scene.obs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 3 == 0:
            print("iter %d reprojection %.6f" % (it, loss.item()))
    return poses.detach(), points.detach()


if __name__ == "__main__":
    torch.manual_seed(21)
    scene = Scene()
    poses, points = refine(scene)
    print("rot err %.5f" % (poses[:, :3] - scene.true_poses[:, :3]).norm().item())
    print("trans err %.5f" % (poses[:, 3:] - scene.true_poses[:, 3:]).norm().item())
    print("point err %.5f" % (points - scene.true_points).norm().item())
