import copy

import torch
import torch.nn.functional as F

from model import add_mask, prunable_layers


def snip(net, keep_ratio, inputs, targets):
    """Connection sensitivity |dL/dc| of every weight on one mini-batch, before any training."""
    # work on a copy so that nothing of the scoring pass is left in the training network
    net = copy.deepcopy(net)
    for layer in prunable_layers(net):
        add_mask(layer)
    masks = [layer.weight_mask for layer in prunable_layers(net)]

    loss = F.cross_entropy(net(inputs), targets)
    grads = torch.autograd.grad(loss, masks)

    scores = torch.cat([g.abs().flatten() for g in grads])
    scores = scores / scores.sum().clamp_min(1e-12)
    k = int(len(scores) * keep_ratio)
    threshold = torch.topk(scores, k, sorted=True)[0][-1]

    keep, start = [], 0
    for m in masks:
        part = scores[start:start + m.numel()].view_as(m)
        keep.append((part >= threshold).float())
        start += m.numel()
    return keep
