"""3D hand pose from 2D keypoints; loss after rigid alignment (PA-MPJPE)."""
import argparse
import numpy as np
import torch
import torch.nn as nn

J = 9


class Lifter(nn.Module):
    def __init__(self, j=J, width=48, blocks=2):
        super().__init__()
        self.inp = nn.Linear(2 * j, width)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU()) for _ in range(blocks)])
        self.out = nn.Linear(width, 3 * j)

    def forward(self, kp):
        h = torch.relu(self.inp(kp.flatten(1)))
        for b in self.blocks:
            h = h + b(h)
        return self.out(h).view(-1, J, 3)


def kabsch(A, B):
    """rotations R (n,3,3) with R @ a ~ b, A and B centred, (n,J,3)"""
    H = np.einsum('nji,njk->nik', A, B)
    U, S, Vt = np.linalg.svd(H)
    d = np.sign(np.linalg.det(np.einsum('nij,njk->nik', U, Vt)))
    D = np.tile(np.eye(3, dtype=A.dtype), (len(A), 1, 1))
    D[:, 2, 2] = d
    return np.einsum('nji,njk,nlk->nil', Vt, D, U)


def aligned_error(pred, gt):
    p = pred - pred.mean(1, keepdim=True)
    g = gt - gt.mean(1, keepdim=True)
    R = torch.from_numpy(kabsch(g.numpy(), g.numpy()))
    return (p @ R.transpose(1, 2) - g).norm(dim=-1).mean()


def bone_loss(pred, gt):
    f = lambda x: (x[:, 1:] - x[:, :-1]).norm(dim=-1)
    return (f(pred) - f(gt)).abs().mean()


class Hands:
    def __init__(self):
        self.base = torch.randn(J, 3)

    def sample(self, n):
        x = self.base + 0.25 * torch.randn(n, J, 3)
        q, r = torch.linalg.qr(torch.randn(n, 3, 3))
        q = q * torch.linalg.det(q).sign().view(-1, 1, 1)
        x = x @ q
        return x[..., :2] / (4 + x[..., 2:]), x


def main():
    pa = argparse.ArgumentParser()
    pa.add_argument('--iters', type=int, default=7)
    pa.add_argument('--bs', type=int, default=16)
    pa.add_argument('--lr', type=float, default=3e-3)
    pa.add_argument('--w_bone', type=float, default=0.3)
    a = pa.parse_args()
    torch.manual_seed(27)
    hands, net = Hands(), Lifter()
    opt = torch.optim.Adam(net.parameters(), lr=a.lr)
    for it in range(a.iters):
        kp, xyz = hands.sample(a.bs)
        pred = net(kp)
        pa_err, bone = aligned_error(pred, xyz), bone_loss(pred, xyz)
        loss = pa_err + a.w_bone * bone
        opt.zero_grad()
        loss.backward()
        opt.step()
        print('iter %d pa %.6f bone %.6f' % (it, pa_err.item(), bone.item()))


if __name__ == '__main__':
    main()
