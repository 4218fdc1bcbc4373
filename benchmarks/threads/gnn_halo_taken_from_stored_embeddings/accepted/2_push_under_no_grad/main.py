import argparse

import torch

from gas.data import partition, random_graph
from gas.model import ScalableGCN
from gas.loop import evaluate, mini_train


def main():
    parser = argparse.ArgumentParser(description="GNN with historical embeddings, one cluster per mini-batch")
    parser.add_argument("--nodes", type=int, default=24)
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=8)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--pool-size", type=int, default=None, help="async I/O, only on GPU")
    args = parser.parse_args()
    torch.manual_seed(12345)
    x, y, adj = random_graph(args.nodes)
    loader = partition(adj, args.parts)
    model = ScalableGCN(args.nodes, x.size(1), args.hidden, 3, args.layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(args.epochs):
        loss = mini_train(model, loader, optimizer, x, y, grad_norm=1.0)
        print(f"Epoch {epoch} loss {loss:.6f} acc {evaluate(model, x, y, adj):.4f}")


if __name__ == "__main__":
    main()
