import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader


class SAGEConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.own, self.neigh = nn.Linear(i, o), nn.Linear(i, o, bias=False)

    def forward(self, x, edge_index):
        src, dst = edge_index
        summed = torch.zeros_like(x).index_add(0, dst, x[src])
        degree = torch.zeros(len(x)).index_add(0, dst, torch.ones(len(dst))).clamp(min=1)
        return self.own(x) + self.neigh(summed / degree[:, None])


class SAGE(nn.Module):
    def __init__(self, i, h, o, layers=2, dropout=0.0):
        super().__init__()
        sizes = [i] + [h] * (layers - 1) + [o]
        self.convs = nn.ModuleList(SAGEConv(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.dropout = dropout

    def forward(self, x, edge_index):
        for conv in self.convs[:-1]:
            x = F.dropout(F.relu(conv(x, edge_index)), self.dropout, self.training)
        return self.convs[-1](x, edge_index)


class LinkPredictor(nn.Module):
    def __init__(self, i, h):
        super().__init__()
        self.lins = nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, a, b):
        return torch.sigmoid(self.lins(a * b))


def make_graph(n, groups, generator):
    """A stochastic block model, split into message, training and validation edges."""
    block = torch.arange(n) % groups
    p = torch.where(block[:, None] == block[None], 0.6, 0.08)
    adj = torch.triu(torch.rand(n, n, generator=generator) < p, 1)
    edges = adj.nonzero().t()
    edges = edges[:, torch.randperm(edges.shape[1], generator=generator)]
    cut = int(0.8 * edges.shape[1])
    train, valid = edges[:, :cut], edges[:, cut:]
    return torch.cat([train, train.flip(0)], 1), train, valid


def train(model, predictor, emb, edge_index, train_edge, optimizer, batch_size):
    model.train()
    predictor.train()
    total_loss = total_examples = 0
    h = model(emb.weight, edge_index)
    for perm in DataLoader(range(train_edge.size(1)), batch_size, shuffle=True):
        edge = train_edge[:, perm]
        pos_out = predictor(h[edge[0]], h[edge[1]])
        pos_loss = -torch.log(pos_out + 1e-15).mean()
        # Just do some trivial random sampling.
        edge = torch.randint(0, len(h), edge.size(), dtype=torch.long)
        neg_out = predictor(h[edge[0]], h[edge[1]])
        neg_loss = -torch.log(1 - neg_out + 1e-15).mean()
        loss = pos_loss + neg_loss

        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        torch.nn.utils.clip_grad_norm_(predictor.parameters(), 1.0)
        optimizer.step()
        num_examples = pos_out.size(0)
        total_loss += loss.item() * num_examples
        total_examples += num_examples
    return total_loss / total_examples


@torch.no_grad()
def test(model, predictor, emb, edge_index, valid_edge, generator):
    model.eval()
    predictor.eval()
    h = model(emb.weight, edge_index)
    pos = predictor(h[valid_edge[0]], h[valid_edge[1]]).flatten()
    neg_edge = torch.randint(0, len(h), valid_edge.size(), generator=generator)
    neg = predictor(h[neg_edge[0]], h[neg_edge[1]]).flatten()
    return (pos[:, None] > neg[None]).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description='link prediction on a block model')
    parser.add_argument('--num_layers', type=int, default=2)
    parser.add_argument('--hidden_channels', type=int, default=12)
    parser.add_argument('--batch_size', type=int, default=16)
    parser.add_argument('--lr', type=float, default=0.01)
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--seed', type=int, default=12)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    edge_index, train_edge, valid_edge = make_graph(18, 3, generator)

    emb = nn.Embedding(18, args.hidden_channels)
    model = SAGE(args.hidden_channels, args.hidden_channels, args.hidden_channels, args.num_layers)
    predictor = LinkPredictor(args.hidden_channels, args.hidden_channels)
    nn.init.xavier_uniform_(emb.weight, gain=math.sqrt(2))
    optimizer = torch.optim.Adam([*model.parameters(), *emb.parameters(), *predictor.parameters()], lr=args.lr)
    best = 0.0
    for epoch in range(1, 1 + args.epochs):
        loss = train(model, predictor, emb, edge_index, train_edge, optimizer, args.batch_size)
        auc = test(model, predictor, emb, edge_index, valid_edge, generator)
        best = max(best, auc)
        print(f'Epoch: {epoch:02d}, Loss: {loss:.6f}, AUC: {auc:.4f}, Best: {best:.4f}')


if __name__ == "__main__":
    main()
