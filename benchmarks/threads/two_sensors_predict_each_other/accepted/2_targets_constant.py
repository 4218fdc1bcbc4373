import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class SensorNet(nn.Module):
    def __init__(self, n_in, dim):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Linear(24, dim))

    def forward(self, x):
        return self.body(x)


class CrossModal(nn.Module):
    # camera and lidar of one scene; each embedding is predicted from the other one
    def __init__(self, n_cam, n_lidar, dim=6):
        super().__init__()
        self.cam, self.lidar = SensorNet(n_cam, dim), SensorNet(n_lidar, dim)
        self.cam2lidar = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, dim))
        self.lidar2cam = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, dim))

    def encode(self, cam, lidar):
        return self.cam(cam), self.lidar(lidar)


def spread(z):
    # hinge on the standard deviation of each dimension
    return F.relu(1 - torch.sqrt(z.var(0) + 1e-4)).mean()


class Scenes:
    def __init__(self, n_cam, n_lidar, latent=3):
        self.A, self.B = torch.randn(latent, n_cam), torch.randn(latent, n_lidar)

    def sample(self, n):
        s = torch.randn(n, len(self.A))
        return torch.tanh(s @ self.A) + 0.2 * torch.randn(n, self.A.shape[1]), (s @ self.B).abs() + 0.2 * torch.randn(n, self.B.shape[1])


def train(args):
    torch.manual_seed(args.seed)
    scenes = Scenes(10, 8)
    model = CrossModal(10, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for it in range(args.iters):
        cam, lidar = scenes.sample(args.batch)
        z_cam, z_lidar = model.encode(cam, lidar)
        optimizer.zero_grad()

        loss_cam = F.mse_loss(model.cam2lidar(z_cam), z_lidar.detach()) + args.spread * spread(z_cam)
        loss_cam.backward()

        loss_lidar = F.mse_loss(model.lidar2cam(z_lidar), z_cam.detach()) + args.spread * spread(z_lidar)
        loss_lidar.backward()

        optimizer.step()
        if it % 2:
            print(f"iter {it} cam->lidar {loss_cam.item():.5f} lidar->cam {loss_lidar.item():.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=8)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--spread", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=135)
    train(parser.parse_args())
