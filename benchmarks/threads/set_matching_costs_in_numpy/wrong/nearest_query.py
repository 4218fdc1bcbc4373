"""DETR in miniature: a fixed set of queries predicts boxes (here intervals), matched to the targets one to one."""
import itertools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def assignment(cost):
    """optimal assignment of columns to rows by enumeration (few queries, no scipy here)"""
    n_q, n_t = cost.shape
    best, best_rows = np.inf, None
    for rows in itertools.permutations(range(n_q), n_t):
        c = cost[list(rows), np.arange(n_t)].sum()
        if c < best:
            best, best_rows = c, rows
    return np.array(best_rows, dtype=np.int64), np.arange(n_t)


class HungarianMatcher(nn.Module):
    def __init__(self, cost_class=1.0, cost_box=5.0):
        super().__init__()
        self.cost_class, self.cost_box = cost_class, cost_box

    def forward(self, logits, boxes, targets):
        indices = []
        prob = logits.softmax(-1)
        for b, t in enumerate(targets):
            cost_class = -prob[b][:, t['labels']]
            cost_box = torch.cdist(boxes[b], t['boxes'], p=1)
            C = self.cost_class * cost_class + self.cost_box * cost_box
            rows, cols = C.argmin(0), range(C.shape[1])
            indices.append((torch.as_tensor(rows), torch.as_tensor(cols)))
        return indices


class SetCriterion(nn.Module):
    def __init__(self, num_classes, matcher, eos_coef=0.2):
        super().__init__()
        self.num_classes, self.matcher = num_classes, matcher
        w = torch.ones(num_classes + 1)
        w[-1] = eos_coef
        self.register_buffer('empty_weight', w)

    def forward(self, logits, boxes, targets):
        indices = self.matcher(logits, boxes, targets)
        classes = torch.full(logits.shape[:2], self.num_classes)
        loss_box, n = logits.new_zeros(()), 0
        for b, (rows, cols) in enumerate(indices):
            classes[b, rows] = targets[b]['labels'][cols]
            loss_box = loss_box + F.l1_loss(boxes[b][rows], targets[b]['boxes'][cols], reduction='sum')
            n += len(rows)
        loss_ce = F.cross_entropy(logits.transpose(1, 2), classes, self.empty_weight)
        return {'ce': loss_ce, 'box': loss_box / max(n, 1)}


class TinyDETR(nn.Module):
    def __init__(self, num_classes, n_queries=4, dim=20):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv1d(2, dim, 5, padding=2), nn.ReLU(), nn.Conv1d(dim, dim, 5, padding=2))
        self.queries = nn.Parameter(torch.randn(n_queries, dim) * 0.3)
        self.attn = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.cls, self.box = nn.Linear(dim, num_classes + 1), nn.Linear(dim, 2)

    def forward(self, x):
        mem = self.backbone(x).transpose(1, 2)
        q = self.queries.expand(x.shape[0], -1, -1)
        h = q + self.attn(q, mem, mem, need_weights=False)[0]
        return self.cls(h), self.box(h).sigmoid()


def scenes(n, length=24):
    x, targets = 0.1 * torch.randn(n, 2, length), []
    for i in range(n):
        k = int(torch.randint(1, 4, (1,)))
        labels = torch.randint(0, 2, (k,))
        boxes = torch.stack([torch.rand(k) * 0.8 + 0.1, torch.rand(k) * 0.15 + 0.05], 1)
        for c, (m, w) in zip(labels, boxes):
            x[i, c, int((m - w / 2) * length):int((m + w / 2) * length) + 1] += 1
        targets.append({'labels': labels, 'boxes': boxes})
    return x, targets


if __name__ == '__main__':
    torch.manual_seed(40)
    model, criterion = TinyDETR(2), SetCriterion(2, HungarianMatcher())
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for it in range(8):
        x, targets = scenes(6)
        losses = criterion(*model(x), targets)
        loss = losses['ce'] + 5 * losses['box']
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 2:
            print(it, ' '.join(f'{k}={v.item():.5f}' for k, v in losses.items()))
