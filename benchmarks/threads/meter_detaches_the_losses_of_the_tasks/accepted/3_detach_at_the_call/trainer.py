import copy

import torch
import torch.nn as nn

from meters import AverageMeter


class MultiTaskNet(nn.Module):
    """shared trunk, age regression + gender + an auxiliary classifier in the middle"""

    def __init__(self, in_dim=16, width=32, n_groups=4):
        super().__init__()
        self.stage1 = nn.Sequential(nn.Linear(in_dim, width), nn.ReLU())
        self.stage2 = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.age = nn.Linear(width, 1)
        self.gender = nn.Linear(width, 2)
        self.aux = nn.Linear(width, n_groups)

    def forward(self, x):
        h1 = self.stage1(x)
        h2 = self.stage2(h1)
        return {"age": self.age(h2).squeeze(-1), "gender": self.gender(h2), "aux": self.aux(h1)}


class ModelEMA:
    def __init__(self, model, decay=0.95):
        self.module = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for e, p in zip(self.module.parameters(), model.parameters()):
            e.mul_(self.decay).add_(p, alpha=1 - self.decay)


class Trainer:
    def __init__(self, model, weights, lr):
        self.model = model
        self.weights = weights
        self.criteria = {
            "age": nn.SmoothL1Loss(),
            "gender": nn.CrossEntropyLoss(),
            "aux": nn.CrossEntropyLoss(),
        }
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.ema = ModelEMA(model)
        self.meters = {k: AverageMeter(k) for k in self.criteria}

    def compute_losses(self, outputs, targets):
        losses = {}
        for name, criterion in self.criteria.items():
            losses[name] = criterion(outputs[name], targets[name])
            self.meters[name].update(losses[name].detach(), n=len(targets[name]))
        return losses

    def train_epoch(self, loader, epoch):
        self.model.train()
        for m in self.meters.values():
            m.reset()
        for x, targets in loader:
            losses = self.compute_losses(self.model(x), targets)
            loss = sum(self.weights[k] * v for k, v in losses.items())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.ema.update(self.model)
        print("epoch %d | %s" % (epoch, " | ".join(str(m) for m in self.meters.values())))

    @torch.no_grad()
    def evaluate(self, x, targets):
        for name, net in (("model", self.model.eval()), ("ema", self.ema.module)):
            out = net(x)
            mae = (out["age"] - targets["age"]).abs().mean().item()
            acc = (out["gender"].argmax(1) == targets["gender"]).float().mean().item()
            print("[%s] age mae %.6f gender acc %.6f" % (name, mae, acc))
