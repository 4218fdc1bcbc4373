# A write through a view changes its base, and is meant to: the first token is emphasised before pooling.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Pooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj, self.cls = nn.Linear(5, 8), nn.Linear(8, 3)

    def forward(self, x):
        h = self.proj(x)
        first = h[:, 0]
        first *= 1.5
        return self.cls(h.mean(1))


torch.manual_seed(8)
net = Pooler()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for it in range(6):
    x = torch.randn(20, 4, 5)
    loss = F.cross_entropy(net(x), x[:, 0, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f}")
