import torch.nn as nn

from .layers import LearnedGraph, STBlock


class GraphForecaster(nn.Module):
    def __init__(self, n_nodes, window, horizon, channels, blocks):
        super().__init__()
        self.start = nn.Conv2d(1, channels, 1)
        self.graph = LearnedGraph(n_nodes)
        self.blocks = nn.ModuleList([STBlock(channels, 2 ** i) for i in range(blocks)])
        left = window - sum(2 ** i for i in range(blocks))
        self.end = nn.Conv2d(channels, horizon, (1, left))

    def graph_penalty(self):
        return self.graph().abs().sum()

    def forward(self, x):
        h = self.start(x.transpose(1, 2).unsqueeze(1))
        adj = self.graph()
        for blk in self.blocks:
            h = blk(h, adj)
        return self.end(h).squeeze(-1)
