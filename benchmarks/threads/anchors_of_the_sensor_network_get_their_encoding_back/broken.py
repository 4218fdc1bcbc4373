"""
Localisation of a wireless sensor network with a GNN: a few anchors know where they are, the
positions of the other nodes are to be found from noisy distances. Semester project, group 4.
"""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument('--nodes', type=int, default=40)
    p.add_argument('--anchors', type=int, default=10)
    p.add_argument('--radius', type=float, default=0.35)
    p.add_argument('--hidden', type=int, default=16)
    p.add_argument('--layers', type=int, default=4)
    p.add_argument('--lr', type=float, default=5e-3)
    p.add_argument('--steps', type=int, default=40)
    p.add_argument('--seed', type=int, default=3)
    return p.parse_args([])


class Network:
    """one random deployment"""

    def __init__(self, args):
        g = torch.Generator().manual_seed(args.seed)
        self.pos = torch.rand(args.nodes, 2, generator=g)
        self.anchor = torch.zeros(args.nodes, dtype=torch.bool)
        self.anchor[torch.randperm(args.nodes, generator=g)[:args.anchors]] = True
        dist = torch.cdist(self.pos, self.pos)
        noisy = (dist + 0.01 * torch.randn(dist.shape, generator=g)).abs()
        near = (dist < args.radius) & ~torch.eye(args.nodes, dtype=torch.bool)
        self.edge_index = near.nonzero().t()
        self.edge_len = noisy[near].unsqueeze(1)

    def features(self):
        known = self.anchor.float().unsqueeze(1)
        return torch.cat([self.pos * known, known], dim=1)

    def split(self):
        unknown = (~self.anchor).nonzero().squeeze(1)
        return unknown[::2], unknown[1::2]


class DistConv(nn.Module):
    """mean of messages m(x_j, d_ij), concatenated with the node itself"""

    def __init__(self, dim):
        super().__init__()
        self.msg = nn.Linear(dim + 1, dim)
        self.upd = nn.Linear(2 * dim, dim)

    def forward(self, x, edge_index, edge_len):
        dst, src = edge_index
        m = F.relu(self.msg(torch.cat([x[src], edge_len], dim=1)))
        agg = torch.zeros_like(x).index_add(0, dst, m)
        deg = torch.bincount(dst, minlength=x.size(0)).clamp(min=1).unsqueeze(1)
        return self.upd(torch.cat([x, agg / deg], dim=1))


class Localizer(nn.Module):
    def __init__(self, in_dim, hidden, layers):
        super().__init__()
        self.enc = nn.Linear(in_dim, hidden)
        self.convs = nn.ModuleList([DistConv(hidden) for _ in range(layers)])
        self.dec = nn.Linear(hidden, 2)

    def forward(self, net):
        h0 = torch.tanh(self.enc(net.features()))
        h = h0
        for conv in self.convs:
            h = torch.tanh(conv(h, net.edge_index, net.edge_len))
            # anchors must not forget where they are
            h[net.anchor] = h0[net.anchor]
        return self.dec(h)


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    net = Network(args)
    train_idx, test_idx = net.split()
    model = Localizer(3, args.hidden, args.layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-5)

    for step in range(args.steps):
        model.train()
        optimizer.zero_grad()
        out = model(net)
        fit = torch.cat([train_idx, net.anchor.nonzero().squeeze(1)])
        loss = F.mse_loss(out[fit], net.pos[fit])
        loss.backward()
        optimizer.step()
        if step % 8 == 7:
            model.eval()
            with torch.no_grad():
                err = (model(net) - net.pos)[test_idx].norm(dim=1).mean()
            print('step {:3d} loss {:.6f} test error {:.6f}'.format(step + 1, loss.item(), err.item()))


if __name__ == '__main__':
    main()
