import argparse
import math
import random

import torch
import torch.nn.functional as F
from torch import nn


def parameter_parser():
    parser = argparse.ArgumentParser(description="Run a small SimGNN.")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=4, help="candidates per query")
    parser.add_argument("--filters", type=int, nargs=2, default=[12, 8])
    parser.add_argument("--tensor-neurons", type=int, default=5)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=42)
    return parser.parse_args()


def random_graph(rng, n_labels=4):
    n = rng.randint(4, 8)
    adj = torch.zeros(n, n)
    for i in range(1, n):
        j = rng.randrange(i)
        adj[i, j] = adj[j, i] = 1.0
    for _ in range(rng.randint(0, 3)):
        i, j = rng.sample(range(n), 2)
        adj[i, j] = adj[j, i] = 1.0
    labels = torch.tensor([rng.randrange(n_labels) for _ in range(n)])
    return {"adj": adj, "x": F.one_hot(labels, n_labels).float()}


def normalised_ged(a, b):
    """A cheap stand-in for the edit distance, mapped to (0, 1]."""
    d = abs(a["adj"].sum() - b["adj"].sum()).item() / 2 + (a["x"].sum(0) - b["x"].sum(0)).abs().sum().item()
    return math.exp(-d / (0.5 * (len(a["x"]) + len(b["x"]))))


class AttentionModule(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(dim, dim))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, h):
        context = torch.tanh((h @ self.weight).mean(0))
        return h.t() @ torch.sigmoid(h @ context)


class TensorNetwork(nn.Module):
    def __init__(self, dim, k):
        super().__init__()
        self.w = nn.Parameter(torch.randn(dim, dim, k) * 0.2)
        self.v = nn.Linear(2 * dim, k)

    def forward(self, a, b):
        bilinear = torch.einsum("i,ijk,j->k", a, self.w, b)
        return F.relu(bilinear + self.v(torch.cat([a, b])))


class SimGNN(nn.Module):
    def __init__(self, args, n_labels):
        super().__init__()
        f1, f2 = args.filters
        self.lin1, self.lin2 = nn.Linear(n_labels, f1), nn.Linear(f1, f2)
        self.attention = AttentionModule(f2)
        self.ntn = TensorNetwork(f2, args.tensor_neurons)
        self.score = nn.Sequential(nn.Linear(args.tensor_neurons, 8), nn.ReLU(), nn.Linear(8, 1))

    def embed(self, graph):
        a = graph["adj"] + torch.eye(len(graph["adj"]))
        d = a.sum(1).rsqrt()
        a = d[:, None] * a * d[None, :]
        h = F.relu(self.lin1(a @ graph["x"]))
        return self.attention(self.lin2(a @ h))

    def compare(self, e1, e2):
        return torch.sigmoid(self.score(self.ntn(e1, e2))).squeeze()


class SimGNNTrainer:
    def __init__(self, args):
        self.args = args
        rng = random.Random(args.seed)
        self.graphs = [random_graph(rng) for _ in range(15)]
        self.model = SimGNN(args, 4)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.learning_rate, weight_decay=5e-4)
        self.rng = rng

    def create_batches(self):
        order = list(range(len(self.graphs)))
        self.rng.shuffle(order)
        size = self.args.batch_size + 1
        return [order[i:i + size] for i in range(0, len(order), size)]

    def process_batch(self, batch):
        """The first graph is the query, the others are its candidates."""
        query, candidates = self.graphs[batch[0]], [self.graphs[i] for i in batch[1:]]
        self.optimizer.zero_grad()
        e_query = self.model.embed(query)
        losses = 0
        for cand in candidates:
            prediction = self.model.compare(self.model.embed(query), self.model.embed(cand))
            target = torch.tensor(normalised_ged(query, cand))
            loss = F.mse_loss(prediction, target)
            loss.backward()
            losses += loss.item()
            self.optimizer.step()
            self.optimizer.zero_grad()
        return losses

    def fit(self):
        self.model.train()
        for epoch in range(self.args.epochs):
            loss_sum, index = 0.0, 0
            for batch in self.create_batches():
                loss_sum += self.process_batch(batch)
                index += len(batch) - 1
            print("Epoch %d (Loss=%.5f)" % (epoch, loss_sum / index))


if __name__ == "__main__":
    args = parameter_parser()
    torch.manual_seed(args.seed)
    SimGNNTrainer(args).fit()
