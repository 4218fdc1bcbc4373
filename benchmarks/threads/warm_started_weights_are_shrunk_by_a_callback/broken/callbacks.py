import torch


class Callback:
    def on_round_start(self, trainer, r):
        pass

    def on_round_end(self, trainer, r, logs):
        pass


class ShrinkPerturb(Callback):
    """When new data comes in: pull the weights towards zero and add a little noise."""

    def __init__(self, shrink, perturb):
        self.shrink = shrink
        self.perturb = perturb

    def on_round_start(self, trainer, r):
        if r == 0:
            return
        for name, p in trainer.model.named_parameters():
            noise = torch.randn_like(p) * self.perturb
            p.mul_(self.shrink).add_(noise)


class Printer(Callback):
    def on_round_end(self, trainer, r, logs):
        norm = sum(p.detach().pow(2).sum() for p in trainer.model.parameters()).sqrt()
        print('round {} loss {:.6f} acc {:.4f} |w| {:.6f}'.format(r, logs['loss'], logs['acc'], norm.item()))
