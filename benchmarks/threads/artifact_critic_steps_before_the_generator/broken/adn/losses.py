import torch
from torch.nn import functional as F


def ls_critic(real, fake):
    return 0.5 * (F.mse_loss(real, torch.ones_like(real)) + F.mse_loss(fake, torch.zeros_like(fake)))


def ls_generator(fake):
    return F.mse_loss(fake, torch.ones_like(fake))


def artifact_consistency(low, out, high):
    """What was taken away from low is what was added to high."""
    return F.l1_loss(low - out["lh"], out["hl"] - high)
