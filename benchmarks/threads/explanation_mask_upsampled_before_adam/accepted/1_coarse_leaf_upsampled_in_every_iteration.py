# Meaningful perturbation: learn the smallest mask that destroys the score of a class.
# (classifier first trained here for a few steps, then explained)
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def squares_and_bars(n, size, gen):
    """class 0: bright square, class 1: vertical bar; noise everywhere"""
    x = 0.2 * torch.rand(n, 1, size, size, generator=gen)
    y = torch.randint(0, 2, (n,), generator=gen)
    for i in range(n):
        r, c = torch.randint(2, size - 8, (2,), generator=gen).tolist()
        if y[i] == 0:
            x[i, 0, r:r + 5, c:c + 5] += 0.8
        else:
            x[i, 0, 2:-2, c:c + 2] += 0.8
    return x, y


class SmallCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 5, stride=2, padding=2)
        self.c2 = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.fc = nn.Linear(12, 2)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        return self.fc(x.amax((2, 3)))


def train_classifier(net, steps, gen, size):
    opt = torch.optim.Adam(net.parameters(), lr=2e-2)
    for _ in range(steps):
        x, y = squares_and_bars(32, size, gen)
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def tv_norm(m, beta=2):
    return (m[..., 1:, :] - m[..., :-1, :]).abs().pow(beta).mean() + (m[..., 1:] - m[..., :-1]).abs().pow(beta).mean()


class MaskExplainer:
    """
    The mask lives on a coarse `grid` x `grid` raster and is upsampled to the image; a mask with one
    value per pixel finds adversarial noise instead of the object.
    """

    def __init__(self, net, size, grid, lr):
        self.net = net.eval()
        for p in net.parameters():
            p.requires_grad_(False)
        self.size = size
        self.mask = torch.full((1, 1, grid, grid), 0.8, requires_grad=True)
        self.opt = torch.optim.Adam([self.mask], lr=lr)

    def explain(self, image, label, iters, l1, tv):
        blurred = F.avg_pool2d(F.pad(image, (4, 4, 4, 4), mode="reflect"), 9, stride=1)
        for it in range(iters):
            mask = F.interpolate(self.mask, size=(self.size, self.size), mode="bilinear", align_corners=False)
            mixed = mask * image + (1 - mask) * blurred
            prob = F.softmax(self.net(mixed), 1)[0, label]
            loss = prob + l1 * (1 - mask).abs().mean() + tv * tv_norm(mask)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.mask.data.clamp_(0, 1)
            if it % 6 == 0:
                print(f"   it {it:2d} prob {prob.item():.6f} loss {loss.item():.6f}")
        return self.mask.detach()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--size", type=int, default=24)
    ap.add_argument("--grid", type=int, default=6)
    ap.add_argument("--iters", type=int, default=19)
    ap.add_argument("--seed", type=int, default=13)
    a = ap.parse_args()
    torch.manual_seed(a.seed)
    gen = torch.Generator().manual_seed(a.seed)
    net = SmallCNN()
    print("classifier loss %.6f" % train_classifier(net, 12, gen, a.size))
    images, labels = squares_and_bars(2, a.size, gen)
    for k in range(2):
        print("image", k, "class", labels[k].item())
        ex = MaskExplainer(net, a.size, a.grid, lr=0.1)
        mask = ex.explain(images[k:k + 1], labels[k].item(), a.iters, l1=0.05, tv=0.2)
        print("   deleted area %.6f" % (1 - mask).mean().item())


if __name__ == "__main__":
    main()
