import argparse
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


# 估计图像的旋转角度并转正 (upright a rotated digit), spatial transformer restricted to rotations

def blob_digits(n, size=16):
    """an 'L' of random thickness, rotated by a random angle"""
    img = torch.zeros(n, 1, size, size)
    for i in range(n):
        w = int(torch.randint(2, 4, (1,)))
        img[i, 0, 3:13, 4:4 + w] = 1.
        img[i, 0, 13 - w:13, 4:12] = 1.
    ang = (torch.rand(n) * 2 - 1) * math.pi / 4
    c, s, z = torch.cos(ang), torch.sin(ang), torch.zeros(n)
    M = torch.stack([c, -s, z, s, c, z], 1).view(n, 2, 3)
    rot = F.grid_sample(img, F.affine_grid(M, img.shape, align_corners=False), align_corners=False)
    return rot, img, ang


class AngleNet(nn.Module):
    def __init__(self, ch=6):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, ch, 3, padding=1), nn.ELU(), nn.AvgPool2d(2),
            nn.Conv2d(ch, ch, 3, padding=1), nn.ELU(), nn.AvgPool2d(2),
        )
        self.fc_theta = nn.Sequential(nn.Linear(ch * 16, 32), nn.ReLU(True), nn.Linear(32, 1))

    def forward(self, x):
        return torch.tanh(self.fc_theta(self.encoder(x).flatten(1))).squeeze(1) * math.pi / 2


class Upright(nn.Module):
    def __init__(self):
        super().__init__()
        self.angle = AngleNet()

    @staticmethod
    def matrices(theta):
        m = torch.zeros(len(theta), 2, 3)
        m[:, 0, 0], m[:, 0, 1] = torch.cos(theta), -torch.sin(theta)
        m[:, 1, 0], m[:, 1, 1] = torch.sin(theta), torch.cos(theta)
        return m

    def forward(self, x):
        theta = self.angle(x)
        grid = F.affine_grid(self.matrices(theta), x.size(), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False), theta


def main():
    p = argparse.ArgumentParser()
    p.add_argument('-n', '--batch', type=int, default=10)
    p.add_argument('--steps', type=int, default=6)
    p.add_argument('--lr', type=float, default=3e-3)
    opt = p.parse_args()
    torch.manual_seed(19)
    net = Upright()
    optim = torch.optim.Adam(net.parameters(), lr=opt.lr)
    for k in range(opt.steps):
        rot, img, ang = blob_digits(opt.batch)
        out, theta = net(rot)
        loss = F.mse_loss(F.avg_pool2d(out, 2), F.avg_pool2d(img, 2)) + F.l1_loss(out, img)
        optim.zero_grad()
        loss.backward()
        optim.step()
        err = (theta + ang).abs().mean().item() * 180 / math.pi
        print('step %d loss %.6f  angle error %.4f deg' % (k, loss.item(), err))


if __name__ == '__main__':
    main()
