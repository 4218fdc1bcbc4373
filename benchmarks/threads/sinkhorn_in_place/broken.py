import torch
import torch.nn as nn
import torch.nn.functional as F


def sinkhorn(scores, eps=0.5, n_iter=3):
    Q = torch.exp(scores / eps)
    for _ in range(n_iter):
        Q /= Q.sum(dim=1, keepdim=True)
        Q /= Q.sum(dim=0, keepdim=True)
    return Q


class Matcher(nn.Module):
    def __init__(self, d=4, h=8):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(d, h), nn.GELU(), nn.Linear(h, h))

    def forward(self, a, b):
        fa, fb = F.normalize(self.f(a), dim=1), F.normalize(self.f(b), dim=1)
        return sinkhorn(fa @ fb.t())


torch.manual_seed(862)
net = Matcher()
optim = torch.optim.Adam(net.parameters(), 5e-3)
for step in range(6):
    a = torch.randn(6, 4)
    perm = torch.randperm(6)
    b = a[perm] + 0.1 * torch.randn(6, 4)
    P = net(a, b)
    nll = -P[perm, torch.arange(6)].clamp_min(1e-6).log().mean()
    optim.zero_grad(); nll.backward(); optim.step()
print(f"{nll.item():.6f} {P.max().item():.6f}")
