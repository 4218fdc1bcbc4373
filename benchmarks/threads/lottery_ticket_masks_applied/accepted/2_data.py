import copy
import torch, torch.nn as nn, torch.nn.functional as F

class Pruner:
    def __init__(self, model, rate=0.3):
        self.model, self.rate = model, rate
        self.masks = {n: torch.ones_like(p) for n, p in model.named_parameters() if p.dim() > 1}

    def prune(self):
        for name, p in self.model.named_parameters():
            if name in self.masks:
                alive = p[self.masks[name] > 0].abs()
                threshold = alive.kthvalue(max(1, int(self.rate * alive.numel())))[0]
                self.masks[name] = self.masks[name] * (p.abs() > threshold).float()

    def apply(self):
        for name, p in self.model.named_parameters():
            if name in self.masks:
                p.data.mul_(self.masks[name])

def train(model, pruner, steps=4, seed=0):
    opt = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-4)
    g = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        x = torch.randn(16, 6, generator=g)
        loss = F.cross_entropy(model(x), (x[:, 0] * x[:, 1] > 0).long())
        opt.zero_grad(); loss.backward(); opt.step()
        pruner.apply()
    return loss.item()

torch.manual_seed(1803)
model = nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 2))
init, pruner = copy.deepcopy(model.state_dict()), Pruner(model)
for round in range(3):
    loss = train(model, pruner)
    left = sum(m.sum().item() for m in pruner.masks.values())
    print("round %d loss %.6f weights left %d" % (round, loss, left))
    pruner.prune()
    model.load_state_dict(init)
    pruner.apply()
