import torch
from torch.nn import functional as F

from .explain import right_reasons, table_saliency


def run_epoch(net, scenes, optimizer, args):
    net.train()
    total = {"pred": 0.0, "expl": 0.0}
    n = 0
    for patches, labels, forbidden in scenes.batches(args.bs):
        optimizer.zero_grad()
        logits, table = net(patches)
        loss_pred = F.cross_entropy(logits, labels)
        loss_pred.backward(retain_graph=True)
        saliency = table_saliency(logits, table, labels)
        loss_expl = right_reasons(saliency, forbidden)
        optimizer.step()
        total["pred"] += loss_pred.item()
        total["expl"] += loss_expl.item()
        n += 1
    return {k: v / n for k, v in total.items()}


def evaluate(net, scenes, size):
    net.eval()
    out = []
    for patches, labels, forbidden in scenes.batches(size):
        logits, table = net(patches)
        sal = table_saliency(logits, table, labels).detach().abs()
        out.append((sal * forbidden).sum() / sal.sum())
    return torch.stack(out).mean().item()
