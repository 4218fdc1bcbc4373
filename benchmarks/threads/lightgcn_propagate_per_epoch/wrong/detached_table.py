"""LightGCN on implicit feedback (toy graph), BPR loss.

The propagation over the bipartite graph is the slow bit on the real data (Gowalla: ~0.4 s), so it is
not repeated needlessly.
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--users", type=int, default=24)
    p.add_argument("--items", type=int, default=30)
    p.add_argument("--dim", type=int, default=8)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--reg", type=float, default=1e-3)
    p.add_argument("--dropout", type=float, default=0.0, help="edge dropout, unused for now")
    return p.parse_args([])


def toy_interactions(n_users, n_items):
    taste = torch.randn(n_users, 3)
    kind = torch.randn(n_items, 3)
    hits = (taste @ kind.t() + 0.5 * torch.randn(n_users, n_items)) > 1.0
    hits[torch.arange(n_users), torch.arange(n_users) % n_items] = True
    return hits.nonzero(), hits


def normalised_adjacency(edges, n_users, n_items):
    n = n_users + n_items
    u, i = edges[:, 0], edges[:, 1] + n_users
    index = torch.cat([torch.stack([u, i]), torch.stack([i, u])], dim=1)
    deg = torch.zeros(n).scatter_add_(0, index[0], torch.ones(index.shape[1])).clamp(min=1)
    val = deg[index[0]].rsqrt() * deg[index[1]].rsqrt()
    return torch.sparse_coo_tensor(index, val, (n, n)).coalesce()


class LightGCN(nn.Module):
    def __init__(self, n_users, n_items, dim, layers, adj):
        super().__init__()
        self.n_users, self.n_items, self.layers = n_users, n_items, layers
        self.emb = nn.Embedding(n_users + n_items, dim)
        nn.init.normal_(self.emb.weight, std=0.1)
        self.adj = adj

    def propagate(self):
        x = self.emb.weight
        out = [x]
        for _ in range(self.layers):
            x = torch.sparse.mm(self.adj, x)
            out.append(x)
        mixed = sum(out) / len(out)
        return mixed.split([self.n_users, self.n_items])

    def ego(self, users, pos, neg):
        return self.emb(users), self.emb(pos + self.n_users), self.emb(neg + self.n_users)


class Sampler:
    def __init__(self, edges, hits, batch):
        self.edges, self.hits, self.batch = edges, hits, batch

    def __iter__(self):
        order = torch.randperm(len(self.edges))
        for start in range(0, len(order), self.batch):
            rows = self.edges[order[start:start + self.batch]]
            neg = torch.randint(0, self.hits.shape[1], (len(rows),))
            yield rows[:, 0], rows[:, 1], neg


def bpr(u, p, n):
    return F.softplus((u * n).sum(-1) - (u * p).sum(-1)).mean()


def main():
    args = parse()
    torch.manual_seed(2020)
    edges, hits = toy_interactions(args.users, args.items)
    adj = normalised_adjacency(edges, args.users, args.items)
    model = LightGCN(args.users, args.items, args.dim, args.layers, adj)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    loader = Sampler(edges, hits, args.batch)

    for epoch in range(args.epochs):
        model.train()
        total, batches = 0.0, 0
        user_emb, item_emb = model.propagate()
        for users, pos, neg in loader:
            user_emb, item_emb = user_emb.detach(), item_emb.detach()
            loss = bpr(user_emb[users], item_emb[pos], item_emb[neg])
            e = model.ego(users, pos, neg)
            loss = loss + args.reg * sum(v.pow(2).sum() for v in e) / len(users)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            batches += 1
        print(f"epoch {epoch} loss {total / batches:.5f}")

    model.eval()
    with torch.no_grad():
        user_emb, item_emb = model.propagate()
        auc = ((user_emb @ item_emb.t())[hits].mean() - (user_emb @ item_emb.t())[~hits].mean()).item()
    print(f"margin {auc:.5f}")


if __name__ == "__main__":
    main()
