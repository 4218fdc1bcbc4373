import torch.nn.functional as F


class LossNormalizer:
    """Brings losses of very different units onto one scale: every loss is
    divided by the exponential mean of its own earlier values."""

    def __init__(self, momentum=0.9):
        self.momentum = momentum
        self.scale = {}

    def __call__(self, losses):
        total = 0.0
        for name, loss in losses.items():
            total = total + loss / self.scale.get(name, 1.0)
            self.update(name, loss)
        return total

    def update(self, name, loss):
        if name not in self.scale:
            self.scale[name] = loss
        else:
            self.scale[name] = self.momentum * self.scale[name] + (1 - self.momentum) * loss


def task_losses(pred, energy, gap, metal):
    return {
        "energy": F.mse_loss(pred["energy"], energy),
        "gap": F.mse_loss(pred["gap"], gap),
        "metal": F.binary_cross_entropy_with_logits(pred["metal"], metal),
    }
