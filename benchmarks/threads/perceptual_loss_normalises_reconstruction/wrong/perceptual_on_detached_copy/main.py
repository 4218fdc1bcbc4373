import argparse
import torch
from data import Pairs
from losses import FeatureLoss
from model import UpNet
from torch import nn


def get_args():
    ap = argparse.ArgumentParser(description="x2 super resolution with a perceptual term")
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--bs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--perceptual", type=float, default=0.2)
    ap.add_argument("--seed", type=int, default=5)
    return ap.parse_args()


def psnr(a, b):
    return -10 * torch.log10((a - b).pow(2).mean())


class Trainer:
    def __init__(self, args):
        self.args = args
        self.data = Pairs(16, args.seed)
        self.net = UpNet()
        self.feature_loss = FeatureLoss()
        self.l1 = nn.L1Loss()
        self.optim = torch.optim.Adam(self.net.parameters(), lr=args.lr, betas=(0.9, 0.99))

    def train_epoch(self, epoch):
        self.net.train()
        logs = torch.zeros(2)
        for lr, hr in self.data.batches(self.args.bs):
            sr = self.net(lr)
            # 知覚損失 + 画素損失
            perc = self.feature_loss(sr.detach().clone(), hr.clone())
            pix = self.l1(sr, hr)
            loss = pix + self.args.perceptual * perc
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            logs += torch.tensor([pix.item(), perc.item()])
        logs /= len(self.data) // self.args.bs
        print(f"[{epoch}] pix {logs[0]:.5f} perceptual {logs[1]:.5f}")

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        scores = [psnr(self.net(lr), hr) for lr, hr in self.data.batches(8)]
        print(f"psnr {torch.stack(scores).mean():.4f}, brightest target {self.data.hr.max():.4f}")


if __name__ == "__main__":
    args = get_args()
    torch.manual_seed(args.seed)
    t = Trainer(args)
    for e in range(args.epochs):
        t.train_epoch(e)
    t.validate()
