import torch

from data import scenes
from losses import MultiTaskLoss
from net import SharedNet

TASKS = ("seg", "depth", "normal")


class Trainer(object):
    def __init__(self, seed=8):
        torch.manual_seed(seed)
        self.net = SharedNet()
        self.criterion = MultiTaskLoss(TASKS)
        self.opt = torch.optim.Adam([
            {"params": self.net.parameters()},
            {"params": self.criterion.parameters(), "lr": 2e-2}], lr=5e-3)

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            log = {t: 0.0 for t in TASKS}
            for x, y in batches:
                loss, parts = self.criterion(self.net(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                for t in TASKS:
                    log[t] += parts[t] / len(batches)
            print("epoch", epoch, *("%s %.6f" % kv for kv in log.items()))
        print("log_vars", *("%.6f" % v for v in self.criterion.log_vars.tolist()))


if __name__ == "__main__":
    Trainer().fit(scenes(6, 32), epochs=4)
