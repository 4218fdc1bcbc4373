import torch


def penalty(ka, ke, volume, lag):
    # flip-flop kinetics: elimination must stay the slower one; weak prior on the volume
    flip = torch.relu(ke - 0.8 * ka).pow(2)
    prior = ((volume - 30.0) / 20.0).pow(2)
    return flip + 0.001 * prior + 0.001 * torch.relu(-lag)


@torch.no_grad()
def momentum_step(leaves, grads, velocity, scales, beta=0.8):
    for p, g, v, s in zip(leaves, grads, velocity, scales):
        if g is None:
            continue
        v.mul_(beta).add_(g, alpha=s)
        p.sub_(v)
