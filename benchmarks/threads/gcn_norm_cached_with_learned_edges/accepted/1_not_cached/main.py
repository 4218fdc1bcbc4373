"""Structure learning: keep the edges of a noisy graph that help node classification."""
import argparse

import torch
import torch.nn.functional as F

from gnn.data import noisy_communities
from gnn.model import GCN, EdgeMask


def main(args):
    torch.manual_seed(args.seed)
    data = noisy_communities(n=30, extra=40)
    mask = EdgeMask(data.edge_index.size(1))
    net = GCN(data.x.size(1), 12, 3, cached=False)
    optimizer = torch.optim.Adam([
        dict(params=net.parameters(), lr=args.lr, weight_decay=5e-4),
        dict(params=mask.parameters(), lr=args.lr_mask)])
    for epoch in range(args.epochs):
        net.train()
        optimizer.zero_grad()
        w = mask()
        out = net(data.x, data.edge_index, w)
        loss = F.cross_entropy(out[data.train], data.y[data.train]) + args.sparsity * w.mean()
        loss.backward()
        optimizer.step()
        if epoch % 2 == 1:
            kept = (mask() > 0.5).float().mean().item()
            print(f'{epoch} loss {loss.item():.5f} mean weight {w.mean().item():.5f} kept {kept:.3f}')


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--lr', type=float, default=0.02)
    p.add_argument('--lr-mask', type=float, default=0.1)
    p.add_argument('--sparsity', type=float, default=0.05)
    p.add_argument('--epochs', type=int, default=8)
    p.add_argument('--seed', type=int, default=4)
    main(p.parse_args())
