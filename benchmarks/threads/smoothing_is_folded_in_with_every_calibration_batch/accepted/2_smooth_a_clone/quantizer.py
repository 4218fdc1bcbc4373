import torch


def round_ste(x):
    return (x.round() - x).detach() + x


def quant_act(x, bits):
    """per-token, symmetric"""
    q = 2 ** (bits - 1) - 1
    step = x.abs().amax(-1, keepdim=True).clamp(min=1e-5) / q
    return round_ste(x / step).clamp(-q, q) * step


def quant_weight(w, bits, clip):
    """per-channel, symmetric, learned clipping of the range (sigmoid of clip)"""
    q = 2 ** (bits - 1) - 1
    step = torch.sigmoid(clip).unsqueeze(1) * w.abs().amax(1, keepdim=True).clamp(min=1e-5) / q
    return round_ste(w / step).clamp(-q, q) * step
