"""N-body: predict where the charged particles are after a while with an E(n) equivariant network."""
import argparse
import logging

import torch
import torch.nn as nn

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("nbody")


def unsorted_segment_mean(data, segment_ids, num_segments):
    out = data.new_zeros(num_segments, data.size(1)).index_add(0, segment_ids, data)
    count = data.new_zeros(num_segments, 1).index_add(0, segment_ids, data.new_ones(data.size(0), 1))
    return out / count.clamp(min=1)


def fully_connected(n_nodes, n_graphs):
    rows, cols = [], []
    for g in range(n_graphs):
        for i in range(n_nodes):
            for j in range(n_nodes):
                if i != j:
                    rows.append(i + g * n_nodes)
                    cols.append(j + g * n_nodes)
    return torch.tensor(rows), torch.tensor(cols)


class E_GCL(nn.Module):
    """One equivariant graph convolution, h and x are both updated."""

    def __init__(self, hidden):
        super().__init__()
        self.edge_mlp = nn.Sequential(nn.Linear(2 * hidden + 1, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.node_mlp = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.coord_mlp = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 1, bias=False))
        self.radius_gate = nn.Sequential(nn.Linear(1, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def coord2radial(self, edges, coord):
        row, col = edges
        coord_diff = coord[row] - coord[col]
        radial = (coord_diff ** 2).sum(1, keepdim=True)
        return radial, coord_diff

    def coord_model(self, coord, edges, coord_diff, edge_feat):
        row, _ = edges
        # a weak pull to (or push from) the origin, gated by the distance from it
        pull = coord * self.radius_gate(coord.pow(2).sum(1, keepdim=True))
        trans = coord_diff * self.coord_mlp(edge_feat)
        agg = unsorted_segment_mean(trans, row, coord.size(0))
        coord = coord.clone()
        coord += agg + 0.1 * pull
        return coord

    def forward(self, h, edges, coord):
        row, col = edges
        radial, coord_diff = self.coord2radial(edges, coord)
        edge_feat = self.edge_mlp(torch.cat([h[row], h[col], radial], dim=1))
        coord = self.coord_model(coord, edges, coord_diff, edge_feat)
        agg = unsorted_segment_mean(edge_feat, row, h.size(0))
        h = h + self.node_mlp(torch.cat([h, agg], dim=1))
        return h, coord


class EGNN(nn.Module):
    def __init__(self, hidden=16, n_layers=3):
        super().__init__()
        self.embedding = nn.Linear(2, hidden)
        self.layers = nn.ModuleList(E_GCL(hidden) for _ in range(n_layers))
        self.vel_scale = nn.Linear(hidden, 1)

    def forward(self, charges, loc, vel, edges):
        speed = vel.norm(dim=1, keepdim=True)
        h = self.embedding(torch.cat([charges, speed], dim=1))
        x = loc
        for layer in self.layers:
            h, x = layer(h, edges, x)
        x = x + vel * self.vel_scale(h)
        return x, h


def simulate(loc, vel, charges, n_nodes, steps=20, dt=0.02):
    """Ground truth: Coulomb forces, leap frog."""
    loc, vel = loc.clone().view(-1, n_nodes, 3), vel.clone().view(-1, n_nodes, 3)
    q = charges.view(-1, n_nodes)
    for _ in range(steps):
        diff = loc.unsqueeze(2) - loc.unsqueeze(1)
        dist = diff.norm(dim=-1).clamp(min=0.3)
        force = (q.unsqueeze(2) * q.unsqueeze(1) / dist ** 3).unsqueeze(-1) * diff
        vel = vel + dt * force.sum(2)
        loc = loc + dt * vel
    return loc.view(-1, 3)


def run_epoch(model, optimizer, data, edges, args):
    total = 0.0
    for charges, loc, vel, target in data:
        optimizer.zero_grad()
        pred, _ = model(charges, loc, vel, edges)
        # displacement loss: weigh the particles by how far they really moved
        moved = (target - loc).norm(dim=1, keepdim=True)
        weight = moved / moved.mean()
        loss = (weight * (pred - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--n_nodes", type=int, default=5)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    torch.manual_seed(1)
    edges = fully_connected(args.n_nodes, args.batch_size)
    data = []
    for _ in range(4):
        n = args.batch_size * args.n_nodes
        charges = torch.randint(0, 2, (n, 1)).float() * 2 - 1
        loc, vel = torch.randn(n, 3), 0.5 * torch.randn(n, 3)
        data.append((charges, loc, vel, simulate(loc, vel, charges, args.n_nodes)))
    model = EGNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-8)
    for epoch in range(args.epochs):
        loss = run_epoch(model, optimizer, data, edges, args)
        print(f"epoch {epoch} loss {loss:.6f}")


if __name__ == "__main__":
    main()
