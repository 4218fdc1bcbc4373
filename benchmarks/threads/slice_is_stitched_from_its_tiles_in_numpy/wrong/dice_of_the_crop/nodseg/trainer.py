import os

import torch
from torch import nn
from torch.utils.data import DataLoader

from .losses import SoftDice
from .window import SlidingWindow


class SegTrainer:
    def __init__(self, net, train_set, valid_set, args):
        self.net = net
        self.args = args
        self.window = SlidingWindow(args.tile, args.stride)
        self.bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(args.pos_weight))
        self.dice = SoftDice()
        self.train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
        self.valid_loader = DataLoader(valid_set, batch_size=args.batch_size)
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.PolynomialLR(self.optimizer, total_iters=args.epochs, power=0.9)
        self.best = 0.0

    def random_crop(self, image, mask):
        t = self.args.tile
        r = int(torch.randint(image.size(2) - t + 1, (1,)))
        c = int(torch.randint(image.size(3) - t + 1, (1,)))
        return image[:, :, r:r + t, c:c + t], mask[:, :, r:r + t, c:c + t]

    def train_epoch(self):
        self.net.train()
        sums = {"bce": 0.0, "dice": 0.0}
        for image, mask in self.train_loader:
            crop, crop_mask = self.random_crop(image, mask)
            bce = self.bce(self.net(crop), crop_mask)
            # nodules are small: overlap is measured on the whole slice
            dice = self.dice(torch.sigmoid(self.net(crop)), crop_mask)
            loss = bce + self.args.dice_weight * dice

            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
            self.optimizer.step()
            sums["bce"] += bce.item() / len(self.train_loader)
            sums["dice"] += dice.item() / len(self.train_loader)
        self.scheduler.step()
        return sums

    def validate(self):
        self.net.eval()
        score = 0.0
        with torch.no_grad():
            for image, mask in self.valid_loader:
                prob = self.window(self.net, image)
                score += (1 - self.dice(prob, mask).item()) / len(self.valid_loader)
        return score

    def run(self, out_dir):
        print(f"untrained: valid dice {self.validate():.5f}")
        for epoch in range(self.args.epochs):
            s = self.train_epoch()
            score = self.validate()
            print(f"epoch {epoch}: bce {s['bce']:.6f} dice loss {s['dice']:.6f} valid dice {score:.5f}")
            if score > self.best:
                self.best = score
                torch.save({"net": self.net.state_dict(), "epoch": epoch}, os.path.join(out_dir, "best.pth"))
