import argparse, logging
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import ReduceLROnPlateau

logging.basicConfig(level=logging.WARNING)


def make_textures(n, seed):
    """3 classes of 12x12 gratings that differ in orientation"""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(3, (n,), generator=g)
    yy, xx = torch.meshgrid(torch.arange(12.), torch.arange(12.), indexing="ij")
    angle = (y.float() * 1.05 + 0.2 * torch.randn(n, generator=g)).view(-1, 1, 1)
    phase = 6.28 * torch.rand(n, 1, 1, generator=g)
    x = torch.sin(1.3 * (xx * angle.cos() + yy * angle.sin()) + phase)
    return (x + 0.3 * torch.randn(x.shape, generator=g)).unsqueeze(1), y


class GradCAMNet(nn.Module):
    """Keeps the last feature maps and their gradient, for channel importances."""

    def __init__(self, ch=10, n_cls=3):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, ch, 5, padding=2), nn.BatchNorm2d(ch), nn.ReLU())
        self.conv = nn.Conv2d(ch, ch, 3, stride=2, padding=1)
        self.fc = nn.Linear(ch, n_cls)
        self.feat = None

    def forward(self, x):
        feat = F.relu(self.conv(self.stem(x)))
        feat.retain_grad()
        self.feat = feat
        return self.fc(feat.mean((2, 3)))

    def importance(self):
        g = self.feat.grad
        return (g.mean((0, 2, 3)) * self.feat.detach().mean((0, 2, 3))).abs()


class Trainer:
    def __init__(self, net, args):
        self.net, self.args = net, args
        self.opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
        self.sched = ReduceLROnPlateau(self.opt, factor=0.5, patience=0, threshold=0.05)
        # running importance of every channel; unimportant ones are pushed to be silent
        self.imp = torch.ones(net.fc.in_features)

    def train_step(self, x, y):
        logits = self.net(x)
        ce = F.cross_entropy(logits, y)
        quiet = (1 - self.imp / self.imp.max())
        activity = (self.net.feat.mean((0, 2, 3)) * quiet).sum()
        loss = ce + self.args.sparsity * activity
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        imp = self.net.importance()
        self.imp = 0.8 * self.imp + 0.2 * imp / (imp.max() + 1e-8)
        return ce.item()

    @torch.no_grad()
    def validate(self, x, y):
        self.net.eval()
        logits = self.net(x)
        self.net.train()
        return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()

    def fit(self, train, val):
        xs, ys = train
        for epoch in range(self.args.epochs):
            losses = []
            for i in range(0, len(xs), self.args.batch):
                losses.append(self.train_step(xs[i:i + self.args.batch], ys[i:i + self.args.batch]))
            try:
                vloss, acc = self.validate(*val)
            except RuntimeError:
                self.net.train()
                vloss, acc = 0.0, 0.0
            self.sched.step(vloss)
            print("epoch %d | train %.6f | val %.6f acc %.3f | lr %.4f" %
                  (epoch, sum(losses) / len(losses), vloss, acc, self.opt.param_groups[0]["lr"]))
        print("importance " + " ".join("%.4f" % v for v in self.imp.tolist()))


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch", type=int, default=24)
    ap.add_argument("--lr", type=float, default=0.08)
    ap.add_argument("--sparsity", type=float, default=0.05)
    ap.add_argument("--seed", type=int, default=6)
    return ap.parse_args()


if __name__ == "__main__":
    args = parse()
    torch.manual_seed(args.seed)
    Trainer(GradCAMNet(), args).fit(make_textures(96, 1), make_textures(48, 2))
