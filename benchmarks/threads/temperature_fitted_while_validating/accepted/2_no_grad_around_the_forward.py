import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class ECE(nn.Module):
    """Expected calibration error"""
    def __init__(self, n_bins=5):
        super().__init__()
        edges = torch.linspace(0, 1, n_bins + 1)
        self.lowers, self.uppers = edges[:-1], edges[1:]

    def forward(self, logits, labels):
        conf, pred = F.softmax(logits, dim=1).max(1)
        hit = pred.eq(labels).float()
        ece = torch.zeros(1)
        for lo, hi in zip(self.lowers, self.uppers):
            inside = conf.gt(lo) & conf.le(hi)
            if inside.any():
                ece += (conf[inside].mean() - hit[inside].mean()).abs() * inside.float().mean()
        return ece.item()


class TemperatureScaler(nn.Module):
    def __init__(self, lr=0.02, iters=4):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(1) * 1.5)
        self.iters = iters
        self.optimizer = torch.optim.Adam([self.temperature], lr=lr)

    def forward(self, logits):
        return logits / self.temperature

    def fit(self, logits, labels):
        for _ in range(self.iters):
            self.optimizer.zero_grad()
            nll = F.cross_entropy(self(logits), labels)
            nll.backward()
            self.optimizer.step()
        return nll.item()


class Trainer:
    def __init__(self, model, epochs=3, lr=0.05):
        self.model = model
        self.epochs = epochs
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.scaler = TemperatureScaler()
        self.ece = ECE()

    def train_epoch(self, loader):
        self.model.train()
        running = 0.0
        for x, y in loader:
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            running += loss.item()
        return running / len(loader)

    def validate(self, loader):
        self.model.eval()
        logits, labels = [], []
        with torch.no_grad():
            for x, y in loader:
                logits.append(self.model(x))
                labels.append(y)
        logits, labels = torch.cat(logits), torch.cat(labels)
        before = self.ece(logits, labels)
        nll = self.scaler.fit(logits, labels)
        after = self.ece(self.scaler(logits), labels)
        return nll, before, after

    def run(self, train_loader, val_loader):
        for epoch in range(self.epochs):
            loss = self.train_epoch(train_loader)
            nll, before, after = self.validate(val_loader)
            print('epoch {} train {:.5f} nll {:.5f} ece {:.4f} -> {:.4f} T {:.5f}'.format(
                epoch, loss, nll, before, after, self.scaler.temperature.item()))


def loader(n, rng):
    out = []
    for _ in range(n):
        x = rng.randn(10, 6).astype('float32')
        y = (np.abs(x[:, 0]) + x[:, 1] > 0.8).astype('int64') + (x[:, 2] > 1).astype('int64')
        out.append((torch.from_numpy(x), torch.from_numpy(y)))
    return out


def main():
    torch.manual_seed(99)
    rng = np.random.RandomState(99)
    model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 3))
    Trainer(model).run(loader(3, rng), loader(2, rng))


if __name__ == '__main__':
    main()
