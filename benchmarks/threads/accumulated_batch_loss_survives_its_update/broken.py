import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Nuclei(Dataset):
    """Toy microscopy: bright blobs on a noisy background and their masks."""

    def __init__(self, n, size=24, seed=0):
        g = torch.Generator().manual_seed(seed)
        ys, xs = torch.meshgrid(torch.arange(size), torch.arange(size), indexing='ij')
        images, masks = [], []
        for _ in range(n):
            mask = torch.zeros(size, size)
            for _ in range(3):
                cy, cx = torch.randint(3, size - 3, (2,), generator=g)
                r = torch.randint(2, 5, (1,), generator=g)
                mask[(ys - cy) ** 2 + (xs - cx) ** 2 <= r ** 2] = 1
            images.append((mask * 0.8 + 0.4 * torch.randn(size, size, generator=g))[None])
            masks.append(mask[None])
        self.images, self.masks = torch.stack(images), torch.stack(masks)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1), nn.GroupNorm(4, cout), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down1 = double_conv(1, width)
        self.down2 = double_conv(width, 2 * width)
        self.bottom = double_conv(2 * width, 4 * width)
        self.up2 = double_conv(6 * width, 2 * width)
        self.up1 = double_conv(3 * width, width)
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(F.max_pool2d(d1, 2))
        b = self.bottom(F.max_pool2d(d2, 2))
        u2 = self.up2(torch.cat([F.interpolate(b, scale_factor=2), d2], 1))
        u1 = self.up1(torch.cat([F.interpolate(u2, scale_factor=2), d1], 1))
        return self.out(u1)


class DiceBCE(nn.Module):
    def forward(self, logits, target):
        p = torch.sigmoid(logits)
        inter = (p * target).sum((1, 2, 3))
        dice = 1 - (2 * inter + 1) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + 1)
        return F.binary_cross_entropy_with_logits(logits, target) + dice.mean()


class Trainer:
    def __init__(self, model, args):
        self.model = model
        self.criterion = DiceBCE()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
        self.accum_steps = args.accum_steps
        self.epochs = args.epochs

    def train_epoch(self, loader):
        self.model.train()
        running, n_updates = 0.0, 0
        batch_loss = 0
        self.optimizer.zero_grad()
        for i, (image, mask) in enumerate(loader):
            logits = self.model(image)
            loss = self.criterion(logits, mask) / self.accum_steps
            batch_loss += loss
            running += loss.item()

            if (i + 1) % self.accum_steps == 0:
                batch_loss.backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
                n_updates += 1
        return running / n_updates

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        inter, union = 0.0, 0.0
        for image, mask in loader:
            pred = self.model(image) > 0
            inter += (pred & mask.bool()).sum().item()
            union += (pred | mask.bool()).sum().item()
        return inter / max(union, 1)

    def fit(self, train_loader, val_loader):
        for epoch in range(1, self.epochs + 1):
            loss = self.train_epoch(train_loader)
            iou = self.validate(val_loader)
            print(f'[{epoch}/{self.epochs}] loss={loss:.4f} val_iou={iou:.4f}')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=4)
    parser.add_argument('--accum_steps', type=int, default=4,
                        help='number of batches per optimizer update')
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--lr', type=float, default=3e-3)
    args = parser.parse_args()

    torch.manual_seed(42)
    train_loader = DataLoader(Nuclei(64, seed=1), batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(Nuclei(16, seed=2), batch_size=16)
    Trainer(UNet(), args).fit(train_loader, val_loader)


if __name__ == '__main__':
    main()
