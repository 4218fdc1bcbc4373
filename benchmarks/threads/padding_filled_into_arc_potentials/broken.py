#!/usr/bin/env python
"""Arc factored dependency parser without an encoder: one table of arc scores per sentence is fitted
(a probe: how well can the *structure* be fitted at all?). Padded arcs are filled with -1e5, marginals by matrix tree."""
import argparse
import torch
import torch.nn as nn

NEG = -1e5


def tree_log_partition(arc, lengths):
    """arc (B, N, N): head -> child, diagonal = root score. Kirchhoff, single matrix per sentence"""
    B, N, _ = arc.shape
    out = []
    for b in range(B):
        n = int(lengths[b])
        a = arc[b, :n, :n]
        eye = torch.eye(n, dtype=torch.bool)
        w = torch.exp(a).masked_fill(eye, 0.)
        L = torch.diag(w.sum(0) + torch.exp(a.diagonal())) - w
        out.append(torch.logdet(L))
    return torch.stack(out)


class ArcTable(nn.Module):
    """learned potentials of a small treebank, all sentences padded to the longest"""

    def __init__(self, n_sent, n_max):
        super().__init__()
        self.potentials = nn.Parameter(0.1 * torch.randn(n_sent, n_max, n_max))
        self.temperature = nn.Parameter(torch.tensor(1.0))

    def check_potentials(self, scores, lengths):
        for b in range(scores.size(0)):
            scores[b, lengths[b]:, :].fill_(NEG)
            scores[b, :, lengths[b]:].fill_(NEG)
        return scores

    def forward(self, heads, lengths):
        scores = self.check_potentials(self.potentials, lengths)
        scores = scores / self.temperature
        logz = tree_log_partition(scores, lengths)
        gold = torch.stack([sum(scores[b, heads[b][i] if heads[b][i] >= 0 else i, i] for i in range(int(lengths[b]))) for b in range(len(heads))])
        # how sure is the best head, over all candidates (the padding must not count)
        margin = torch.log_softmax(scores, dim=1).max(dim=1).values
        keep = torch.arange(scores.size(1))[None] < lengths[:, None]
        return (logz - gold).mean(), -(margin * keep).sum() / keep.sum()


def random_trees(n, lo=4, hi=7):
    heads, lens = [], []
    for _ in range(n):
        L = int(torch.randint(lo, hi + 1, (1,)))
        root = int(torch.randint(0, L, (1,)))
        order = [root] + [i for i in torch.randperm(L).tolist() if i != root]
        h = [-1] * L
        for j, c in enumerate(order[1:], 1):
            h[c] = order[int(torch.randint(0, j, (1,)))]
        heads.append(h)
        lens.append(L)
    return heads, torch.tensor(lens)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--sents', type=int, default=5)
    p.add_argument('--epochs', type=int, default=6)
    p.add_argument('--lr', type=float, default=0.2)
    p.add_argument('--ent', type=float, default=0.1)
    args = p.parse_args()
    torch.manual_seed(33)
    heads, lens = random_trees(args.sents)
    model = ArcTable(args.sents, int(lens.max()))
    opt = torch.optim.Adagrad([{'params': [model.potentials]}, {'params': [model.temperature], 'lr': 0.02}], lr=args.lr)
    for ep in range(args.epochs):
        opt.zero_grad()
        nll, unsure = model(heads, lens)
        (nll + args.ent * unsure).backward()
        opt.step()
        print('epoch %d nll %.6f unsure %.6f T %.5f' % (ep, nll.item(), unsure.item(), model.temperature.item()))


if __name__ == '__main__':
    main()
