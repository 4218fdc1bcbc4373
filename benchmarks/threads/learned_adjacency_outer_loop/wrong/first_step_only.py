import torch
import torch.nn as nn
import torch.nn.functional as F


class StructureLearner(nn.Module):
    def __init__(self, n_feat, k=4):
        super().__init__()
        self.proj = nn.Linear(n_feat, k, bias=False)

    def forward(self, x):
        z = self.proj(x)
        a = torch.sigmoid(z @ z.t()) + torch.eye(len(x))
        d = a.sum(1).rsqrt()
        return d[:, None] * a * d[None, :]


class GCN(nn.Module):
    def __init__(self, n_feat, hid, n_class):
        super().__init__()
        self.w1, self.w2 = nn.Linear(n_feat, hid), nn.Linear(hid, n_class)

    def forward(self, x, adj):
        return self.w2(adj @ F.relu(self.w1(adj @ x)))


class Trainer:
    def __init__(self, x, y, inner=3):
        self.x, self.y, self.inner = x, y, inner
        self.learner, self.gcn = StructureLearner(x.shape[1]), GCN(x.shape[1], 10, 3)
        self.opt_s = torch.optim.Adam(self.learner.parameters(), lr=1e-2)
        self.opt_g = torch.optim.Adam(self.gcn.parameters(), lr=1e-2)

    def epoch(self):
        adj = self.learner(self.x)
        for _ in range(self.inner):
            loss = F.cross_entropy(self.gcn(self.x, adj), self.y) + 1e-2 * adj.pow(2).sum()
            self.opt_s.zero_grad()
            self.opt_g.zero_grad()
            loss.backward()
            self.opt_s.step()
            self.opt_g.step()
            adj = adj.detach()
        return loss.item()


torch.manual_seed(404)
x = torch.randn(15, 6)
t = Trainer(x, torch.arange(15) % 3)
history = [t.epoch() for _ in range(2)]
print(["%.6f" % h for h in history])
