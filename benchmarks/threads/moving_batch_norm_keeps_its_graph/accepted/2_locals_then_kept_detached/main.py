import argparse
import torch
import torch.nn.functional as F
from model import SmallSegNet, set_momentum
from data import make_batches


def dice_loss(logits, target, smooth=1.):
    p = torch.sigmoid(logits).flatten(1)
    t = target.flatten(1)
    inter = (p * t).sum(1)
    return (1 - (2 * inter + smooth) / (p.sum(1) + t.sum(1) + smooth)).mean()


class Trainer(object):
    def __init__(self, args):
        self.args = args
        self.net = SmallSegNet(base=args.base)
        set_momentum(self.net, args.bn_momentum)
        self.optim = torch.optim.Adam(self.net.parameters(), lr=args.lr)
        self.log = []

    def one_batch(self, img, mask):
        self.optim.zero_grad()
        logits = self.net(img)
        loss = F.binary_cross_entropy_with_logits(logits, mask) + dice_loss(logits, mask)
        loss.backward()
        self.optim.step()
        return loss.item()

    def train(self):
        self.net.train()
        for ep in range(self.args.epochs):
            for img, mask in make_batches(self.args.batches, self.args.bs):
                self.log.append(self.one_batch(img, mask))
                print("epoch {} loss {:.6f}".format(ep, self.log[-1]))

    def evaluate(self):
        self.net.eval()
        with torch.no_grad():
            (img, mask), = make_batches(1, self.args.bs)
            print("val dice {:.6f}".format(1 - dice_loss(self.net(img), mask).item()))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--base", type=int, default=6)
    ap.add_argument("--bs", type=int, default=2)      # volumes are large, batch of 2
    ap.add_argument("--batches", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--bn_momentum", type=float, default=0.7)
    a = ap.parse_args()
    torch.manual_seed(21)
    t = Trainer(a)
    t.train()
    t.evaluate()
