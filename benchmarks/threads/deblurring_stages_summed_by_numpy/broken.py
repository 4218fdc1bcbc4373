import argparse
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description='deblurring, three stages')
parser.add_argument('--epochs', type=int, default=2)
parser.add_argument('--batch', type=int, default=4)
parser.add_argument('--lr', type=float, default=2e-3)
parser.add_argument('--edge', type=float, default=0.05)
opt = parser.parse_args()

######### Set Seeds ###########
np.random.seed(1234)
torch.manual_seed(1234)


class CharbonnierLoss(nn.Module):
    """Charbonnier Loss (L1)"""

    def __init__(self, eps=1e-3):
        super(CharbonnierLoss, self).__init__()
        self.eps = eps

    def forward(self, x, y):
        diff = x - y
        return torch.mean(torch.sqrt((diff * diff) + (self.eps * self.eps)))


class EdgeLoss(nn.Module):
    def __init__(self):
        super(EdgeLoss, self).__init__()
        k = torch.tensor([[.05, .25, .4, .25, .05]])
        self.register_buffer('kernel', torch.matmul(k.t(), k)[None, None])
        self.loss = CharbonnierLoss()

    def laplacian(self, img):
        blurred = F.conv2d(F.pad(img, (2, 2, 2, 2), mode='replicate'), self.kernel)
        return img - blurred

    def forward(self, x, y):
        return self.loss(self.laplacian(x), self.laplacian(y))


class Stage(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, c, 3, padding=1), nn.PReLU(), nn.Conv2d(c, 1, 3, padding=1))

    def forward(self, x):
        return x + self.body(x)


class Restorer(nn.Module):
    """coarse to fine; returns [stage3, stage2, stage1] like MPRNet"""

    def __init__(self, c=6):
        super().__init__()
        self.s1, self.s2, self.s3 = Stage(c), Stage(c), Stage(c)

    def forward(self, x):
        a = self.s1(x)
        b = self.s2(a)
        return [self.s3(b), b, a]


def psnr(a, b):
    rmse = (a.clamp(0, 1) - b.clamp(0, 1)).pow(2).mean().sqrt().item()
    return 20 * math.log10(1.0 / max(rmse, 1e-8))


def get_batches():
    sharp = torch.rand(3, opt.batch, 1, 10, 10)
    for s in sharp:
        yield s, F.avg_pool2d(s, 3, stride=1, padding=1)


def validate(model):
    model.eval()
    psnr_val = []
    with torch.no_grad():
        for target, blurry in get_batches():
            psnr_val.append(psnr(model(blurry)[0], target))
    model.train()
    return np.mean(psnr_val)


model = Restorer()
optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr, betas=(0.9, 0.999), eps=1e-8)
criterion_char = CharbonnierLoss()
criterion_edge = EdgeLoss()

for epoch in range(1, opt.epochs + 1):
    epoch_loss = 0
    for i, (target, input_) in enumerate(get_batches()):
        optimizer.zero_grad()
        restored = model(input_)

        # Compute loss at each stage
        loss_char = np.sum([criterion_char(restored[j], target) for j in range(len(restored))])
        loss_edge = np.sum([criterion_edge(restored[j], target) for j in range(len(restored))])
        loss = loss_char + opt.edge * loss_edge

        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print("Epoch: {}\tLoss: {:.5f}\tPSNR: {:.4f}".format(epoch, epoch_loss, validate(model)))
