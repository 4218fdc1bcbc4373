"""Almost No Inner Loop (Raghu et al.), first-order variant.

The inner loop adapts the head only. The body is learned by the outer loop, from the query loss of
the adapted heads.
"""
import copy

import torch
import torch.nn.functional as F
from torch import nn

from .body import ConvBody


class ANIL:
    def __init__(self, ways, inner_lr, inner_steps, meta_lr):
        self.body = ConvBody()
        self.head = nn.Linear(self.body.out_dim, ways)
        self.inner_lr, self.inner_steps = inner_lr, inner_steps
        params = list(self.body.parameters()) + list(self.head.parameters())
        self.meta_opt = torch.optim.Adam(params, lr=meta_lr)

    def adapt(self, x, y):
        head = copy.deepcopy(self.head)
        opt = torch.optim.SGD(head.parameters(), lr=self.inner_lr)
        feats = self.body(x).detach()
        for _ in range(self.inner_steps):
            loss = F.cross_entropy(head(feats), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        opt.zero_grad()
        return head, loss.item()

    def meta_step(self, tasks):
        self.body.train()
        self.meta_opt.zero_grad()
        support = query = hits = total = 0
        for xs, ys, xq, yq in tasks:
            head, s = self.adapt(xs, ys)
            logits = head(self.body(xq))
            loss = F.cross_entropy(logits, yq)
            (loss / len(tasks)).backward()
            # first order: the gradient at the adapted head is the gradient of the initial one
            for p, q in zip(self.head.parameters(), head.parameters()):
                p.grad = q.grad.clone() if p.grad is None else p.grad + q.grad
            support += s / len(tasks)
            query += loss.item() / len(tasks)
            hits += (logits.argmax(1) == yq).sum().item()
            total += len(yq)
        norm = nn.utils.clip_grad_norm_(self.body.parameters(), 2.0)
        self.meta_opt.step()
        return {"support": support, "query": query, "acc": hits / total, "grad_norm": norm.item()}

    def evaluate(self, tasks):
        self.body.eval()
        losses, accs = [], []
        for xs, ys, xq, yq in tasks:
            head, _ = self.adapt(xs, ys)
            with torch.no_grad():
                logits = head(self.body(xq))
                losses.append(F.cross_entropy(logits, yq).item())
                accs.append((logits.argmax(1) == yq).float().mean().item())
        return sum(losses) / len(losses), sum(accs) / len(accs)
