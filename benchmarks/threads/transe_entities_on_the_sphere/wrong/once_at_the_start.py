import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

# TransE, Bordes et al. 2013, Algorithm 1
#   loop
#     e <- e / ||e|| for each entity e
#     S_batch <- sample(S, b)
#     ...


class TransE(nn.Module):
    def __init__(self, n_ent, n_rel, dim=16, p_norm=1, margin=1.0):
        super(TransE, self).__init__()
        self.p_norm = p_norm
        self.margin = margin
        self.ent = nn.Embedding(n_ent, dim)
        self.rel = nn.Embedding(n_rel, dim)
        bound = 6.0 / dim ** 0.5
        nn.init.uniform_(self.ent.weight, -bound, bound)
        nn.init.uniform_(self.rel.weight, -bound, bound)
        self.rel.weight.data = F.normalize(self.rel.weight.data, p=2, dim=1)

    def normalize_entities(self):
        self.ent.weight.data /= self.ent.weight.data.norm(p=2, dim=1, keepdim=True)

    def distance(self, triples):
        h, r, t = self.ent(triples[:, 0]), self.rel(triples[:, 1]), self.ent(triples[:, 2])
        return (h + r - t).norm(p=self.p_norm, dim=1)

    def forward(self, pos, neg):
        return F.relu(self.margin + self.distance(pos) - self.distance(neg)).mean()


class Corrupter(object):
    """replaces head or tail (not both) by a random entity"""

    def __init__(self, n_ent, gen):
        self.n_ent, self.gen = n_ent, gen

    def __call__(self, pos):
        neg = pos.clone()
        head = torch.rand(len(pos), generator=self.gen) < 0.5
        rand = torch.randint(0, self.n_ent, (len(pos),), generator=self.gen)
        neg[head, 0] = rand[head]
        neg[~head, 2] = rand[~head]
        return neg


def make_kg(n_ent, n_rel, n):
    h = torch.randint(0, n_ent, (n,))
    r = torch.randint(0, n_rel, (n,))
    return torch.stack([h, r, (h * 3 + r * 5 + 1) % n_ent], 1)


def mean_rank(model, triples, n_ent):
    ranks = []
    with torch.no_grad():
        for h, r, t in triples.tolist():
            cand = torch.tensor([[h, r, e] for e in range(n_ent)])
            d = model.distance(cand)
            ranks.append(float((d < d[t]).sum() + 1))
    return sum(ranks) / len(ranks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', default=4, type=int)
    parser.add_argument('--batch', default=32, type=int)
    parser.add_argument('--lr', default=0.5, type=float)
    opt = parser.parse_args()
    torch.manual_seed(2)
    n_ent, n_rel = 20, 3
    kg = make_kg(n_ent, n_rel, 96)
    model = TransE(n_ent, n_rel)
    model.normalize_entities()
    corrupt = Corrupter(n_ent, torch.Generator().manual_seed(5))
    optimizer = torch.optim.SGD(model.parameters(), lr=opt.lr)
    for epoch in range(opt.epochs):
        total = 0.
        for batch in kg[torch.randperm(len(kg))].split(opt.batch):
            optimizer.zero_grad()
            loss = model(batch, corrupt(batch))
            loss.backward()
            optimizer.step()
            total += loss.item()
        print('Epoch', epoch, 'loss', round(total, 6))
    print('MR', mean_rank(model, kg[:20], n_ent))


if __name__ == '__main__':
    main()
