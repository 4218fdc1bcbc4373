import os

import torch
import torch.nn.functional as F


class AWPTrainer:
    def __init__(self, model, attack, awp, args):
        self.model, self.attack, self.awp, self.args = model, attack, awp, args
        self.optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, args.epochs)

    def train_step(self, x, y):
        x_adv = self.attack(self.model, x, y)

        # 通常の損失は元の重みで、頑健性の損失は揺らした重みで
        natural = F.cross_entropy(self.model(x), y)
        self.awp.perturb(x_adv, y)
        robust = F.cross_entropy(self.model(x_adv), y)
        loss = natural + self.args.beta * robust

        self.optimizer.zero_grad()
        loss.backward()
        self.awp.restore()
        self.optimizer.step()
        return natural.item(), robust.item()

    def train_epoch(self, x, y):
        self.model.train()
        sums = [0.0, 0.0]
        batches = torch.randperm(len(x)).split(self.args.batch_size)
        for idx in batches:
            for k, v in enumerate(self.train_step(x[idx], y[idx])):
                sums[k] += v / len(batches)
        self.scheduler.step()
        return sums

    def evaluate(self, x, y):
        self.model.eval()
        x_adv = self.attack(self.model, x, y)
        with torch.no_grad():
            clean = self.model(x)
            adv = self.model(x_adv)
        return (F.cross_entropy(clean, y).item(), F.cross_entropy(adv, y).item(),
                (adv.argmax(1) == y).float().mean().item())

    def fit(self, train, test, out_dir):
        for epoch in range(1, self.args.epochs + 1):
            nat, rob = self.train_epoch(*train)
            c, a, acc = self.evaluate(*test)
            print(f"Epoch {epoch}: natural {nat:.5f} robust {rob:.5f} | test clean {c:.5f} pgd {a:.5f} acc {acc:.4f}")
            torch.save({"epoch": epoch, "state": self.model.state_dict()}, os.path.join(out_dir, f"awp_{epoch}.pt"))
