# traffic speed, graph WaveNet in miniature
import torch
import torch.nn.functional as F

from gwn.layers import STBlock
from gwn.net import GraphForecaster

SEED = 99
torch.manual_seed(SEED)


def sensors(n_nodes, T):
    """speeds of a ring road; upstream sensors lead"""
    t = torch.arange(T).float()
    base = torch.stack([torch.sin(t / 5 - 0.6 * i) for i in range(n_nodes)], 1)
    return base + 0.1 * torch.randn(T, n_nodes)


def masked_mae(pred, true, null=-9.0):
    m = (true != null).float()
    return ((pred - true).abs() * m).sum() / m.sum()


def main(n_nodes=7, window=8, horizon=2):
    x = sensors(n_nodes, 90)
    net = GraphForecaster(n_nodes, window, horizon, channels=6, blocks=2)
    optim = torch.optim.Adam(net.parameters(), lr=0.01)
    starts = torch.arange(0, 90 - window - horizon)
    for epoch in range(2):
        for batch in starts[torch.randperm(len(starts))].split(20):
            inp = torch.stack([x[s:s + window] for s in batch])
            out = torch.stack([x[s + window:s + window + horizon] for s in batch])
            loss = masked_mae(net(inp), out) + 1e-3 * net.graph_penalty()
            optim.zero_grad()
            loss.backward()
            optim.step()
        print("epoch {} mae {:.6f} edges {:.6f}".format(epoch, loss.item(), net.graph_penalty().item()))


if __name__ == "__main__":
    main()
