"""Left-atrium style segmentation on synthetic slices, cross entropy + Hausdorff (distance transform) loss."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--alpha", type=float, default=2.0)
    p.add_argument("--hd_weight", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=1337)
    return p.parse_args()


def brute_edt(mask):
    """Euclidean distance of every pixel inside the mask to the nearest pixel outside."""
    inside, outside = np.argwhere(mask), np.argwhere(~mask)
    field = np.zeros(mask.shape, dtype=np.float32)
    if len(inside) == 0 or len(outside) == 0:
        return field
    d = np.sqrt(((inside[:, None, :] - outside[None, :, :]) ** 2).sum(-1)).min(1)
    field[mask] = d
    return field


class HausdorffDTLoss(nn.Module):
    """Karimi & Salcudean. The field is symmetric: distance inside + distance outside."""

    def __init__(self, alpha=2.0):
        super().__init__()
        self.alpha = alpha

    def distance_field(self, img):
        field = np.zeros(tuple(img.shape), dtype=np.float32)
        arr = img.cpu().numpy()
        for b in range(len(arr)):
            fg = arr[b] > 0.5
            if fg.any():
                field[b] = brute_edt(fg) + brute_edt(~fg)
        return torch.from_numpy(field)

    def forward(self, pred, target):
        pred_dt = self.distance_field(pred)
        target_dt = self.distance_field(target)
        pred_error = (pred - target) ** 2
        distance = pred_dt ** self.alpha + target_dt ** self.alpha
        return (pred_error * distance).mean()


class SmallNet(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU())
        self.out = nn.Conv2d(width, 1, 1)
        nn.init.zeros_(self.out.bias)

    def forward(self, x):
        return self.out(self.enc(x)).squeeze(1)


def phantom(n, size, rng):
    yy, xx = np.mgrid[:size, :size]
    imgs, masks = [], []
    for _ in range(n):
        cy, cx, r = rng.uniform(4, size - 4), rng.uniform(4, size - 4), rng.uniform(2, 4)
        m = ((yy - cy) ** 2 + (xx - cx) ** 2) < r * r
        imgs.append(m * 0.8 + rng.normal(0, 0.3, m.shape))
        masks.append(m)
    return torch.tensor(np.array(imgs), dtype=torch.float32).unsqueeze(1), torch.tensor(np.array(masks), dtype=torch.float32)


def train(args):
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    images, masks = phantom(8, 12, rng)
    net = SmallNet()
    images = images - images.mean()
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    hd_loss = HausdorffDTLoss(args.alpha)
    for epoch in range(args.epochs):
        total = 0.0
        for i in range(0, len(images), 4):
            x, y = images[i:i + 4], masks[i:i + 4]
            logits = net(x)
            soft = torch.sigmoid(logits)
            loss_ce = F.binary_cross_entropy_with_logits(logits, y)
            loss_hd = hd_loss(soft, y)
            loss = loss_ce + args.hd_weight * loss_hd
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        print(f"epoch {epoch} loss {total:.6f}")


if __name__ == "__main__":
    train(get_args())
