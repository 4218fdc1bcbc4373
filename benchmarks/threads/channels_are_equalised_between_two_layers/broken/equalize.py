import torch


def layer_pairs(model):
    convs = [model.conv1, model.conv2, model.conv3]
    return list(zip(convs[:-1], convs[1:]))


def channel_ranges(first, second):
    r1 = first.weight.detach().abs().flatten(1).amax(1)
    r2 = second.weight.detach().abs().transpose(0, 1).flatten(1).amax(1)
    return r1, r2


def equalize_pair(first, second, eps=1e-8):
    """s_i = sqrt(r1_i * r2_i) / r2_i; the pair computes the same function afterwards."""
    r1, r2 = channel_ranges(first, second)
    s = (r1 * r2).sqrt() / r2.clamp(min=eps)
    s = s.clamp(1e-3, 1e3)
    first.weight /= s.view(-1, 1, 1, 1)
    if first.bias is not None:
        first.bias /= s
    second.weight *= s.view(1, -1, 1, 1)
    return (s.log().abs().mean()).item()


def cross_layer_equalization(pairs, sweeps=1):
    history = []
    for _ in range(sweeps):
        moved = [equalize_pair(first, second) for first, second in pairs]
        history.append(sum(moved) / len(moved))
    return history
