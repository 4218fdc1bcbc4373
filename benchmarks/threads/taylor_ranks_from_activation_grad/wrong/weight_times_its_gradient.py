import torch
import torch.nn as nn
import torch.nn.functional as F


class PrunableConvNet(nn.Module):
    """conv channels are switched off by masks (real surgery comes at export)"""

    def __init__(self, widths=(8, 10), classes=5):
        super(PrunableConvNet, self).__init__()
        self.convs = nn.ModuleList()
        self.norms = nn.ModuleList()
        c = 1
        for i, w in enumerate(widths):
            self.convs.append(nn.Conv2d(c, w, 3, padding=1))
            self.norms.append(nn.GroupNorm(2, w))
            self.register_buffer("mask%d" % i, torch.ones(w))
            c = w
        self.classifier = nn.Linear(c, classes)
        self.activations = []

    def mask(self, i):
        return getattr(self, "mask%d" % i)

    def forward(self, x):
        self.activations = []
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            x = F.relu(norm(conv(x)))
            x = x * self.mask(i).view(1, -1, 1, 1)
            if self.training:
                self.activations.append(x)
            x = F.max_pool2d(x, 2)
        return self.classifier(x.mean((2, 3)))


class FilterPruner(object):
    """Molchanov et al. 2017: |mean(activation * dC/dactivation)| per channel, L2-normalised per layer"""

    def __init__(self, model):
        self.model = model
        self.reset()

    def reset(self):
        self.filter_ranks = {}

    def update_ranks(self):
        for layer, act in enumerate(self.model.activations):
            w = self.model.convs[layer].weight
            taylor = w.detach() * w.grad
            values = taylor.mean(dim=(1, 2, 3)).abs()
            if layer not in self.filter_ranks:
                self.filter_ranks[layer] = torch.zeros(act.shape[1])
            self.filter_ranks[layer] += values

    def lowest(self, n):
        cand = []
        for layer, ranks in self.filter_ranks.items():
            ranks = ranks / ranks.norm().clamp(min=1e-12)
            alive = self.model.mask(layer) > 0
            if alive.sum() <= 2:
                continue
            cand += [(ranks[c].item(), layer, c) for c in range(len(ranks)) if alive[c]]
        return sorted(cand)[:n]

    def prune(self, n):
        plan = self.lowest(n)
        for value, layer, c in plan:
            self.model.mask(layer)[c] = 0.0
        self.reset()
        return plan


class Finetuner(object):

    def __init__(self, model, x, y, batch=16):
        self.model, self.x, self.y, self.batch = model, x, y, batch
        self.pruner = FilterPruner(model)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for xb, yb in zip(self.x.split(self.batch), self.y.split(self.batch)):
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(xb), yb)
            loss.backward()
            # ranks are a by-product of fine-tuning, there is no pass of their own for them
            self.pruner.update_ranks()
            self.optimizer.step()
            total += loss.item()
        return total

    def run(self, rounds, per_round):
        for r in range(rounds):
            total = self.train_epoch()
            plan = self.pruner.prune(per_round)
            print("round", r, "loss %.6f" % total, " ".join("L%d/%d:%.5f" % (l, c, v) for v, l, c in plan))
        self.model.eval()
        with torch.no_grad():
            acc = (self.model(self.x).argmax(1) == self.y).float().mean().item()
        print("acc %.4f, channels left %d" % (acc, sum(int(self.model.mask(i).sum()) for i in range(len(self.model.convs)))))


if __name__ == '__main__':
    torch.manual_seed(8)
    y = torch.randint(0, 5, (64,))
    x = torch.randn(5, 1, 8, 8)[y] + 0.5 * torch.randn(64, 1, 8, 8)
    Finetuner(PrunableConvNet(), x, y).run(rounds=3, per_round=3)
