import torch
from torch import autograd


def derivative(y, x, create_graph=False):
    """dy/dx, summed over the batch"""
    return autograd.grad(y.sum(), x, create_graph=create_graph)[0]


def sliced_score_matching(energy, samples, n_particles=1):
    """
    Song et al. 2019:  E[ v' grad(s(x)' v) + 1/2 |s(x)|^2 ]   with s = grad log p
    (variance-reduced form: the norm is known exactly)
    """
    dup = samples.unsqueeze(0).expand(n_particles, *samples.shape).contiguous()
    dup = dup.view(-1, *samples.shape[1:])
    dup.requires_grad_(True)

    # Rademacher directions
    v = torch.randn_like(dup).sign()

    logp = -energy(dup)
    score = derivative(logp, dup, create_graph=True)
    norm = 0.5 * (score.detach() ** 2).sum(dim=-1)

    directional = (score * v).sum(dim=-1)
    hv = derivative(directional, dup, create_graph=True)
    trace = (hv * v).sum(dim=-1)

    loss = trace + norm
    return loss.mean(), trace.mean().item(), norm.mean().item()
