"""train a GCN on a small graph, then explain one node by learning a mask over the edges"""
import argparse
import torch
import torch.nn.functional as F
from gcn import GCN
from explainer import EdgeExplainer
from graphs import two_communities


def fit(model, x, adj, y, epochs, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=5e-4)
    model.train()
    for ep in range(epochs):
        opt.zero_grad()
        loss = F.cross_entropy(model(x, adj), y)
        loss.backward()
        opt.step()
    acc = (model(x, adj).argmax(1) == y).float().mean()
    print('trained: loss %.6f acc %.4f' % (loss.item(), acc.item()))


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--epochs', type=int, default=15)
    p.add_argument('--explain_epochs', type=int, default=7)
    p.add_argument('--node', type=int, default=3)
    p.add_argument('--uncached', action='store_true')
    a = p.parse_args()
    torch.manual_seed(23)
    x, adj, y = two_communities()
    model = GCN(x.size(1), 8, 2, cached=not a.uncached)     # one graph only, normalise once
    fit(model, x, adj, y, a.epochs, 0.02)
    mask = EdgeExplainer(model, epochs=a.explain_epochs).explain(a.node, x, adj)
    top = mask.flatten().topk(4).values
    print('strongest edges', ' '.join('%.6f' % v for v in top.tolist()))


if __name__ == '__main__':
    main()
