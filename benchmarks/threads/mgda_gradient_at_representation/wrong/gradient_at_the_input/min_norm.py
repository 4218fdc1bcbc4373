import torch


def min_norm_2(g1, g2):
    """closed form of min || a g1 + (1-a) g2 ||"""
    d = g1 - g2
    denom = (d * d).sum()
    if denom < 1e-12:
        return 0.5
    return ((g2 - g1) * g2).sum().div(denom).clamp(0.0, 1.0).item()


def normalise(grads, losses, how="loss+"):
    if how == "none":
        return grads
    out = []
    for g, l in zip(grads, losses):
        scale = g.norm()
        if how == "loss+":
            scale = scale * l
        out.append(g / (scale + 1e-8))
    return out
