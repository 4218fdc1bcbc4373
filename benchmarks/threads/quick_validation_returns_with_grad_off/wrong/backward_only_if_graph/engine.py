import torch


class MeanMeter:
    def __init__(self):
        self.s, self.n = 0.0, 0

    def add(self, v, k=1):
        self.s += float(v) * k
        self.n += k

    @property
    def avg(self):
        return self.s / max(self.n, 1)


def train_one_epoch(model, criterion, loader, optimizer):
    model.train()
    meter = MeanMeter()
    for x, seg, depth in loader:
        out = model(x)
        loss, parts = criterion(out, seg, depth)
        optimizer.zero_grad()
        if loss.requires_grad:
            loss.backward()
        optimizer.step()
        meter.add(loss.item(), len(x))
    return meter.avg


def evaluate(model, criterion, loader, limit_batches=None):
    """returns (segmentation accuracy, depth mae). limit_batches: look at the first few batches only (quick check)"""
    torch.set_grad_enabled(False)
    model.eval()
    acc, mae = MeanMeter(), MeanMeter()
    for i, (x, seg, depth) in enumerate(loader):
        logits, d = model(x)
        acc.add((logits.argmax(1) == seg).float().mean(), len(x))
        mae.add((d.squeeze(1) - depth).abs().mean(), len(x))
        if limit_batches is not None and i + 1 >= limit_batches:
            return acc.avg, mae.avg
    torch.set_grad_enabled(True)
    return acc.avg, mae.avg
