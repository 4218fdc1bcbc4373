"""Classifier with a rotation head next to it. Config in JSON, two optimizers."""
import json

import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = json.loads("""{"classes": 3, "batch": 20, "steps": 7,
  "optim": {"main": {"lr": 0.01}, "rotation": {"lr": 0.02}}}""")


class Features(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, width, 3), nn.ReLU(), nn.Conv2d(width, width, 3, stride=2), nn.ReLU())

    def forward(self, img):
        return self.body(img).mean((2, 3))


class Experiment:
    def __init__(self, cfg):
        self.cfg = cfg
        self.features = Features()
        self.classifier = nn.Linear(10, cfg["classes"])
        self.rotation = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
        main = list(self.features.parameters()) + list(self.classifier.parameters())
        self.opt_main = torch.optim.Adam(main, **cfg["optim"]["main"])
        self.opt_rotation = torch.optim.Adam(self.rotation.parameters(), **cfg["optim"]["rotation"])

    def batch(self):
        n = self.cfg["batch"]
        y = torch.randint(0, self.cfg["classes"], (n,))
        img = 0.3 * torch.randn(n, 1, 9, 9)
        for i, c in enumerate(y):
            img[i, 0, :3, 3 * int(c):3 * int(c) + 3] += 1.
        k = torch.randint(0, 4, (n,))
        img = torch.stack([torch.rot90(a, int(r), (1, 2)) for a, r in zip(img, k)])
        return img, y, k

    def step(self):
        img, y, k = self.batch()
        self.opt_main.zero_grad()
        self.opt_rotation.zero_grad()

        with torch.no_grad():
            feat = self.features(img)

        loss_rot = F.cross_entropy(self.rotation(feat), k)
        loss_rot.backward()
        self.opt_rotation.step()

        loss_cls = F.cross_entropy(self.classifier(feat), y)
        loss_cls.backward()
        self.opt_main.step()
        return loss_cls.item(), loss_rot.item()


if __name__ == "__main__":
    torch.manual_seed(90)
    exp = Experiment(CONFIG)
    for s in range(CONFIG["steps"]):
        c, r = exp.step()
        print(f"{s} cls {c:.5f} rot {r:.5f}")
