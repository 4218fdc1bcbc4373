import torch

from losses import LossNormalizer, task_losses


class Trainer:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        self.normalizer = LossNormalizer(cfg.momentum)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)

    def train_one_epoch(self, loader):
        self.model.train()
        seen, total = 0, 0.0
        for x, *targets in loader:
            losses = task_losses(self.model(x), *targets)
            loss = self.normalizer(losses)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(x)
            seen += len(x)
        return total / seen

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        sums, seen = {}, 0
        for x, *targets in loader:
            for k, v in task_losses(self.model(x), *targets).items():
                sums[k] = sums.get(k, 0.0) + v.item() * len(x)
            seen += len(x)
        return {k: v / seen for k, v in sums.items()}

    def fit(self, train_loader, val_loader):
        for epoch in range(self.cfg.epochs):
            train = self.train_one_epoch(train_loader)
            val = self.validate(val_loader)
            print("epoch %d train %.6f  " % (epoch, train)
                  + "  ".join("%s %.6f" % kv for kv in val.items()))
