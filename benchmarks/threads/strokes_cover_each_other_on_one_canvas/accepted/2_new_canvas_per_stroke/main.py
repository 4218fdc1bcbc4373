import argparse
import os
import tempfile

import numpy as np
import torch

from painter.brush import StrokeField
from painter.losses import ImageLoss
from painter.renderer import Renderer

# 画像を N 本のストロークで近似する（微分可能レンダラ）


def target_picture(size):
    """stand-in for the photograph: sky, hill, sun"""
    y, x = np.mgrid[0:size, 0:size] / (size - 1.0)
    img = np.zeros((3, size, size), dtype=np.float32)
    img[0] = 0.3 + 0.3 * y
    img[1] = 0.5 + 0.1 * y
    img[2] = 0.9 - 0.3 * y
    hill = y > 0.65 + 0.15 * np.sin(4 * x)
    img[:, hill] = np.array([0.2, 0.5, 0.15])[:, None]
    sun = (x - 0.75) ** 2 + (y - 0.22) ** 2 < 0.015
    img[:, sun] = np.array([0.98, 0.85, 0.3])[:, None]
    return torch.from_numpy(img)


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--strokes", type=int, default=10)
    p.add_argument("--patch", type=int, default=14)
    p.add_argument("--steps", type=int, default=12)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    target = target_picture(args.size)
    strokes = StrokeField(args.strokes, args.size, args.patch)
    renderer = Renderer(args.size, paper=1.0)
    criterion = ImageLoss()

    optimizer = torch.optim.Adam([
        {"params": [strokes.raw_color, strokes.raw_alpha], "lr": args.lr},
        {"params": [strokes.center, strokes.log_scale, strokes.theta], "lr": args.lr * 0.4},
    ])
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.97)

    for step in range(args.steps):
        picture = renderer(strokes)
        loss, parts = criterion(picture, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 2 == 0 or step == args.steps - 1:
            print(f"[{step:03d}] loss {loss.item():.6f} l1 {parts['l1']:.6f} edge {parts['edge']:.6f} "
                  f"alpha {strokes.alpha.mean().item():.5f}")

    with torch.no_grad(), tempfile.TemporaryDirectory() as tmp:
        final = renderer(strokes)
        np.save(os.path.join(tmp, "painting.npy"), final.numpy())
        mse = (final - target).pow(2).mean()
        print(f"PSNR {(-10 * torch.log10(mse)).item():.5f}")


if __name__ == "__main__":
    main()
