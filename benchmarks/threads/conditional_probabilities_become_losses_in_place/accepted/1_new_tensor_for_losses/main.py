import json

import torch
from torch import nn

from losses import HierarchicalCrossEntropy
from taxonomy import LEAVES, PATHS

CONFIG = json.loads('{"seed": 5, "epochs": 4, "batch": 12, "lr": 0.05, "alpha": 0.4, "features": 8}')


class Classifier(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, 10), nn.Tanh())
        self.head = nn.Linear(10, classes)

    def forward(self, x):
        return self.head(self.body(x))


def lesions(n, features):
    centres = torch.randn(len(LEAVES), features)
    y = torch.randint(0, len(LEAVES), (n,))
    return centres[y] + 0.5 * torch.randn(n, features), y


def mistake_severity(model, x, y):
    """height of the lowest common ancestor, averaged over the mistakes"""
    with torch.no_grad():
        guess = model(x).argmax(1)
    heights = []
    for g, t in zip(guess.tolist(), y.tolist()):
        a, b = PATHS[LEAVES[g]], PATHS[LEAVES[t]]
        common = sum(1 for p, q in zip(a, b) if p == q)
        if g != t:
            heights.append(3 - common)
    return sum(heights) / max(len(heights), 1)


def main(cfg):
    torch.manual_seed(cfg["seed"])
    x, y = lesions(24, cfg["features"])
    model = Classifier(cfg["features"], len(LEAVES))
    criterion = HierarchicalCrossEntropy(cfg["alpha"])
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=0.9)
    for epoch in range(cfg["epochs"]):
        running = 0.0
        for i in range(0, len(x), cfg["batch"]):
            optimizer.zero_grad()
            loss = criterion(model(x[i:i + cfg["batch"]]), y[i:i + cfg["batch"]])
            loss.backward()
            optimizer.step()
            running += loss.item()
        print(f"[{epoch}] hxe {running:.6f} severity {mistake_severity(model, x, y):.3f}")


if __name__ == "__main__":
    main(CONFIG)
