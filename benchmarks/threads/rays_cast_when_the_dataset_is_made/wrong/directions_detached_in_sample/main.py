"""Radiance field with unknown cameras: field, focal length and poses are fitted together."""
import argparse

import torch

from camera import LearnedCameras
from data import PhotoRays, toy_photos
from field import TinyField, render


def train(args):
    torch.manual_seed(args.seed)
    photos = toy_photos(args.views, args.size)
    cameras = LearnedCameras(args.views, args.size, init_focal=args.size * 1.2)
    field = TinyField(width=args.width)
    rays = PhotoRays(photos, cameras)

    field_opt = torch.optim.Adam(field.parameters(), lr=args.lr)
    cam_opt = torch.optim.Adam(cameras.parameters(), lr=args.lr_cam)
    sched = torch.optim.lr_scheduler.StepLR(cam_opt, step_size=4, gamma=0.5)

    for it in range(args.iters):
        origins, dirs, rgb = rays.sample(args.batch)
        pred = render(field, origins, dirs, n_samples=args.n_samples)
        loss = ((pred - rgb) ** 2).mean()

        field_opt.zero_grad()
        cam_opt.zero_grad()
        loss.backward()
        field_opt.step()
        cam_opt.step()
        sched.step()
        if it % 2 == 0:
            print(f"it {it:2d} mse {loss.item():.6f} focal {cameras.focal().item():.5f}")

    drift = cameras.translation.detach().norm(dim=1).mean()
    print(f"camera drift {drift.item():.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--views", type=int, default=3)
    parser.add_argument("--size", type=int, default=6)
    parser.add_argument("--width", type=int, default=24)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--n_samples", type=int, default=6)
    parser.add_argument("--iters", type=int, default=8)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--lr_cam", type=float, default=2e-2)
    parser.add_argument("--seed", type=int, default=11)
    train(parser.parse_args())
