"""Pose network: joint positions in, joint rotations out, trained through forward kinematics."""
import argparse

import numpy as np
import torch
import torch.nn as nn

PARENTS = [-1, 0, 1, 2, 0, 4, 5, 2, 7]
OFFSETS = torch.tensor([
    [0.0, 0.0, 0.0],
    [0.0, 0.5, 0.0], [0.0, 0.5, 0.0], [0.0, 0.3, 0.0],
    [0.2, -0.1, 0.0], [0.0, -0.6, 0.0], [0.0, -0.6, 0.1],
    [0.3, 0.1, 0.0], [0.4, 0.0, 0.0],
])


def cont6d_to_matrix(x):
    """The continuous 6D representation of Zhou et al. (2019)"""
    a, b = x[..., :3], x[..., 3:]
    e1 = nn.functional.normalize(a, dim=-1)
    e2 = nn.functional.normalize(b - (e1 * b).sum(-1, keepdim=True) * e1, dim=-1)
    e3 = torch.cross(e1, e2, dim=-1)
    return torch.stack([e1, e2, e3], dim=-1)


class ForwardKinematics:
    def __init__(self, parents, offsets):
        self.parents = parents
        self.offsets = offsets

    def forward(self, rots):
        """
        rots: local rotations, (batch, joint, 3, 3)
        returns global rotations and joint positions
        """
        pos = torch.empty(rots.shape[:-1], dtype=rots.dtype)
        pos[:, 0] = 0.
        offsets = self.offsets.expand(rots.shape[0], -1, -1)

        for i, p in enumerate(self.parents):
            if i != 0:
                rots[:, i] = torch.matmul(rots[:, p], rots[:, i])
                pos[:, i] = torch.matmul(rots[:, p], offsets[:, i].unsqueeze(-1)).squeeze(-1) + pos[:, p]
        return rots, pos


class PoseNet(nn.Module):
    def __init__(self, n_joints, hidden):
        super().__init__()
        self.n_joints = n_joints
        self.net = nn.Sequential(
            nn.Linear(n_joints * 3, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, n_joints * 6),
        )
        self.net[-1].bias.data = torch.tensor([1., 0., 0., 0., 1., 0.]).repeat(n_joints)

    def forward(self, pos):
        out = self.net(pos.reshape(pos.shape[0], -1))
        return cont6d_to_matrix(out.view(-1, self.n_joints, 6))


def random_poses(fk, n, spread):
    rot6d = torch.tensor([1., 0., 0., 0., 1., 0.]).repeat(n, len(PARENTS), 1)
    rot6d = rot6d + spread * torch.randn(n, len(PARENTS), 6)
    with torch.no_grad():
        return fk.forward(cont6d_to_matrix(rot6d))


def main(args):
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    fk = ForwardKinematics(PARENTS, OFFSETS)
    model = PoseNet(len(PARENTS), args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.MSELoss()

    glob, target = random_poses(fk, args.n_poses, 0.25)
    for epoch in range(args.epochs):
        perm = np.random.permutation(args.n_poses)
        for k in range(0, args.n_poses, args.batch_size):
            idx = torch.from_numpy(perm[k:k + args.batch_size])
            rots, pos = fk.forward(model(target[idx]))
            loss_pos = criterion(pos, target[idx])
            loss_ee = criterion(rots[:, [3, 6, 8]], glob[idx][:, [3, 6, 8]])
            loss = args.lambda_pos * loss_pos + args.lambda_ee * loss_ee

            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print('epoch %d pos %.6f ee %.6f' % (epoch, loss_pos.item(), loss_ee.item()))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--n_poses', type=int, default=32)
    parser.add_argument('--batch_size', type=int, default=16)
    parser.add_argument('--epochs', type=int, default=4)
    parser.add_argument('--hidden', type=int, default=32)
    parser.add_argument('--lr', type=float, default=3e-3)
    parser.add_argument('--lambda_pos', type=float, default=10.0)
    parser.add_argument('--lambda_ee', type=float, default=1.0)
    parser.add_argument('--seed', type=int, default=0)
    main(parser.parse_args())
