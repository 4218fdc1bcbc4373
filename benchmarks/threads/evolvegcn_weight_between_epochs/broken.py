"""EvolveGCN-O on a toy sequence of graph snapshots."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class EvolvingConv(nn.Module):
    """A graph convolution whose weight is the state of a GRU cell."""

    def __init__(self, channels):
        super().__init__()
        self.initial_weight = nn.Parameter(torch.empty(channels, channels))
        nn.init.xavier_uniform_(self.initial_weight)
        self.cell = nn.GRUCell(channels, channels)
        self.weight = None

    def reinitialize_weight(self):
        self.weight = None

    def forward(self, x, adj):
        weight = self.initial_weight if self.weight is None else self.weight
        self.weight = self.cell(weight, weight)
        return adj @ (x @ self.weight)


class RecurrentGCN(nn.Module):
    def __init__(self, node_features, hidden):
        super().__init__()
        self.inp = nn.Linear(node_features, hidden)
        self.recurrent = EvolvingConv(hidden)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, x, adj):
        h = torch.tanh(self.inp(x))
        h = F.relu(self.recurrent(h, adj))
        return self.linear(h).squeeze(-1)


def snapshots(n_nodes, n_times, n_features):
    """Random graphs with a signal that is smoothed along their edges."""
    signal = torch.randn(n_nodes, n_features)
    data = []
    for t in range(n_times):
        adj = (torch.rand(n_nodes, n_nodes) < 0.3).float()
        adj = ((adj + adj.t()) > 0).float() + torch.eye(n_nodes)
        d = adj.sum(1).rsqrt()
        adj = d[:, None] * adj * d[None, :]
        signal = 0.7 * signal + 0.3 * adj @ signal + 0.1 * torch.randn_like(signal)
        data.append((signal.clone(), adj, signal.mean(1) + 0.05 * t))
    return data


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.01)
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(305)
    train = snapshots(10, 5, 4)
    model = RecurrentGCN(4, args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    model.train()
    for epoch in range(args.epochs):
        cost = 0
        for time, (x, adj, y) in enumerate(train):
            y_hat = model(x, adj)
            cost = cost + torch.mean((y_hat - y) ** 2)
        cost = cost / (time + 1)
        cost.backward()
        optimizer.step()
        optimizer.zero_grad()
    print("MSE: {:.6f}".format(cost.item()))
    print("weight: {:.6f}".format(model.recurrent.initial_weight.norm().item()))


if __name__ == "__main__":
    main()
