import torch, torch.nn as nn, torch.nn.functional as F
from typing import NamedTuple


class Graph(NamedTuple):
    x: torch.Tensor
    edge_index: torch.Tensor
    y: torch.Tensor


class GraphConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin_self, self.lin_nbr = nn.Linear(i, o), nn.Linear(i, o, bias=False)

    def forward(self, x, edge_index):
        src, dst = edge_index
        out = torch.tanh(self.lin_self(x))
        msg = torch.sigmoid(self.lin_nbr(x))[src] * x.mean(1, keepdim=True)[src]
        out.index_add(0, dst, msg)
        return out


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([GraphConv(4, 8), GraphConv(8, 8)])
        self.head = nn.Linear(8, 1)

    def forward(self, g):
        h = g.x
        for conv in self.convs:
            h = conv(h, g.edge_index)
        return self.head(h.mean(0))


def random_graph(n=7, e=14):
    x = torch.randn(n, 4)
    return Graph(x, torch.randint(0, n, (2, e)), x.sum().view(1) / n)


if __name__ == "__main__":
    torch.manual_seed(5678)
    model = GNN()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(5):
        opt.zero_grad()
        loss = sum(F.mse_loss(model(g), g.y) for g in (random_graph() for _ in range(3)))
        loss.backward()
        opt.step()
    print(f"{loss.item():.6f}")
