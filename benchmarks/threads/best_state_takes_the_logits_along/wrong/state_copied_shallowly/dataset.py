from types import SimpleNamespace

import torch


def citation_graph(n, n_classes, n_words):
    """Bag-of-words papers that mostly cite papers of their own field."""
    y = torch.randint(0, n_classes, (n,))
    topics = torch.rand(n_classes, n_words) ** 3
    x = (torch.rand(n, n_words) < 0.25 * topics[y] + 0.05).float()
    x = x / x.sum(1, keepdim=True).clamp(min=1)

    same = y[:, None] == y[None, :]
    p = torch.where(same, torch.tensor(0.04), torch.tensor(0.008))
    adj = (torch.rand(n, n) < p).float().triu(1)
    adj = adj + adj.t() + torch.eye(n)
    d = adj.sum(1).pow(-0.5)
    adj = d[:, None] * adj * d[None, :]

    order = torch.randperm(n)
    return SimpleNamespace(x=x, y=y, adj=adj, train=order[:30], val=order[30:70], test=order[70:])
