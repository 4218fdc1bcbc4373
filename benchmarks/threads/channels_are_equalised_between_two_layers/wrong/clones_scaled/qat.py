import torch
import torch.nn.functional as F

from net import QConv2d


def quantise(model, bits):
    for module in model.modules():
        if isinstance(module, QConv2d):
            module.bits = bits


class QATTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer, 1.0, 0.2, total_iters=8)

    def fit(self, draw, steps):
        losses = []
        for _ in range(steps):
            x, y = draw()
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.scheduler.step()
            losses.append(loss.item())
        return losses

    @torch.no_grad()
    def accuracy(self, x, y):
        return (self.model(x).argmax(1) == y).float().mean().item()
