"""Tiny EfficientNet-like classifier with a gated bottleneck, after the memory-saving activations of the detection repos."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class SwishFn(torch.autograd.Function):
    """x * sigmoid(x); the backward only needs x."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        ctx.mark_dirty(x)
        return x.mul_(torch.sigmoid(x))

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad_out * s * (1 + x * (1 - s))


class MemSwish(nn.Module):
    def forward(self, x):
        return SwishFn.apply(x)


class GatedBlock(nn.Module):
    """expand -> depthwise -> (swish branch * gate branch) -> project.

    Both branches look at the same normalised pre-activation.
    """

    def __init__(self, c_in, c_mid, c_out, stride=1):
        super().__init__()
        self.expand = nn.Conv2d(c_in, c_mid, 1, bias=False)
        self.bn0 = nn.BatchNorm2d(c_mid)
        self.dw = nn.Conv2d(c_mid, c_mid, 3, stride, 1, groups=c_mid, bias=False)
        self.bn1 = nn.BatchNorm2d(c_mid)
        self.gate = nn.Conv2d(c_mid, c_mid, 1)
        self.project = nn.Conv2d(c_mid, c_out, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(c_out)
        self.act = MemSwish()
        self.skip = stride == 1 and c_in == c_out

    def forward(self, x):
        h = self.act(self.bn0(self.expand(x)))
        h = self.bn1(self.dw(h))
        g = torch.sigmoid(self.gate(h))
        h = self.act(h) * g
        h = self.bn2(self.project(h))
        return x + h if self.skip else h


class Net(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), MemSwish())
        self.blocks = nn.Sequential(GatedBlock(8, 16, 8), GatedBlock(8, 16, 12, stride=2))
        self.head = nn.Linear(12, n_classes)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.head(x.mean(dim=(2, 3)))


def make_batches(n, size, gen):
    for _ in range(n):
        y = torch.randint(0, 4, (size,), generator=gen)
        x = torch.randn(size, 3, 16, 16, generator=gen)
        x += torch.linspace(-1, 1, 4)[y].view(-1, 1, 1, 1)
        yield x, y


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=10)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--lr", type=float, default=0.05)
    args = ap.parse_args()

    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    net = Net(4)
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.steps)

    for step, (x, y) in enumerate(make_batches(args.steps, args.batch_size, gen)):
        net.train()
        loss = F.cross_entropy(net(x), y, label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 3 == 0:
            print(f"step {step:3d}  loss {loss.item():.6f}")

    net.eval()
    with torch.no_grad():
        x, y = next(make_batches(1, 64, gen))
        acc = (net(x).argmax(1) == y).float().mean().item()
    print("val acc %.4f" % acc)
    print("gate norm %.6f" % net.blocks[0].gate.weight.norm().item())


if __name__ == "__main__":
    main()
