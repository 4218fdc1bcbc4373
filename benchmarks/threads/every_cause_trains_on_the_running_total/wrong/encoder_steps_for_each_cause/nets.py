import torch
import torch.nn as nn


class SharedEncoder(nn.Module):
    def __init__(self, n_in, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, width), nn.Tanh())

    def forward(self, x):
        return self.net(x)


class CauseNet(nn.Module):
    """Cause-specific sub-network: discrete hazards of one competing risk."""

    def __init__(self, width, bins):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, bins))

    def forward(self, z):
        return self.net(z)


def cause_nll(logits, bin_, event, cause):
    """-log likelihood of the cause-specific hazards; other causes count as censored."""
    steps = torch.arange(logits.size(1)).unsqueeze(0)
    before = (steps < bin_.unsqueeze(1)).float()
    log_h = nn.functional.logsigmoid(logits)
    log_s = nn.functional.logsigmoid(-logits)
    at = log_h.gather(1, bin_.unsqueeze(1)).squeeze(1)
    at_censored = log_s.gather(1, bin_.unsqueeze(1)).squeeze(1)
    own = (event == cause).float()
    return -((before * log_s).sum(1) + own * at + (1 - own) * at_censored).mean()
