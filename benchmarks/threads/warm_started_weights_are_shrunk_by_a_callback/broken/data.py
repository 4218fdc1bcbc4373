import torch


class RoundsOfData:
    """after round r the learner owns the samples of the rounds 0..r"""

    def __init__(self, cfg):
        g = torch.Generator().manual_seed(cfg.seed)
        n = cfg.rounds * cfg.samples_per_round
        self.y = torch.randint(0, cfg.classes, (n,), generator=g)
        means = torch.randn(cfg.classes, cfg.dim, generator=g)
        self.x = means[self.y] + 1.2 * torch.randn(n, cfg.dim, generator=g)
        self.cfg = cfg

    def up_to(self, r):
        end = (r + 1) * self.cfg.samples_per_round
        return self.x[:end], self.y[:end]
