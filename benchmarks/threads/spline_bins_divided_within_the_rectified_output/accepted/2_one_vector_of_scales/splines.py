import numpy as np
import torch
from torch.nn import functional as F

DEFAULT_MIN_BIN_WIDTH = 1e-3
DEFAULT_MIN_BIN_HEIGHT = 1e-3
DEFAULT_MIN_DERIVATIVE = 1e-3


def searchsorted(bin_locations, inputs, eps=1e-6):
    upper = torch.cat([bin_locations[..., :-1], bin_locations[..., -1:] + eps], -1)
    return torch.sum(inputs[..., None] >= upper, dim=-1) - 1


def unconstrained_rational_quadratic_spline(inputs, widths, heights, derivatives, inverse=False, tail_bound=3.0):
    inside = (inputs >= -tail_bound) & (inputs <= tail_bound)
    pad = np.log(np.exp(1 - DEFAULT_MIN_DERIVATIVE) - 1)
    derivatives = F.pad(derivatives, pad=(1, 1), value=float(pad))
    clamped = inputs.clamp(-tail_bound, tail_bound)
    out, logdet = rational_quadratic_spline(clamped, widths, heights, derivatives, inverse, tail_bound)
    return torch.where(inside, out, inputs), torch.where(inside, logdet, torch.zeros_like(logdet))


def rational_quadratic_spline(inputs, uw, uh, ud, inverse, bound):
    k = uw.shape[-1]
    widths = DEFAULT_MIN_BIN_WIDTH + (1 - DEFAULT_MIN_BIN_WIDTH * k) * F.softmax(uw, dim=-1)
    cumwidths = F.pad(torch.cumsum(widths, -1), (1, 0)) * 2 * bound - bound
    widths = cumwidths[..., 1:] - cumwidths[..., :-1]
    derivatives = DEFAULT_MIN_DERIVATIVE + F.softplus(ud)
    heights = DEFAULT_MIN_BIN_HEIGHT + (1 - DEFAULT_MIN_BIN_HEIGHT * k) * F.softmax(uh, dim=-1)
    cumheights = F.pad(torch.cumsum(heights, -1), (1, 0)) * 2 * bound - bound
    heights = cumheights[..., 1:] - cumheights[..., :-1]

    idx = searchsorted(cumheights if inverse else cumwidths, inputs).clamp(0, k - 1)[..., None]
    pick = lambda t: t.gather(-1, idx)[..., 0]
    x_k, w_k, y_k, h_k = pick(cumwidths), pick(widths), pick(cumheights), pick(heights)
    delta, d_k, d_k1 = pick(heights / widths), pick(derivatives), pick(derivatives[..., 1:])

    if inverse:
        s = (inputs - y_k) * (d_k + d_k1 - 2 * delta)
        a, b, c = s + h_k * (delta - d_k), h_k * d_k - s, -delta * (inputs - y_k)
        theta = (2 * c) / (-b - torch.sqrt((b * b - 4 * a * c).clamp_min(0)))
        out = theta * w_k + x_k
    else:
        theta = (inputs - x_k) / w_k
        out = y_k + h_k * (delta * theta ** 2 + d_k * theta * (1 - theta)) / (delta + (d_k + d_k1 - 2 * delta) * theta * (1 - theta))
    den = delta + (d_k + d_k1 - 2 * delta) * theta * (1 - theta)
    num = delta ** 2 * (d_k1 * theta ** 2 + 2 * delta * theta * (1 - theta) + d_k * (1 - theta) ** 2)
    logdet = torch.log(num) - 2 * torch.log(den)
    return out, -logdet if inverse else logdet
