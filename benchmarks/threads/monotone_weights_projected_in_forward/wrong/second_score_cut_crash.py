import torch
import torch.nn as nn
import torch.nn.functional as F


class MonotoneLinear(nn.Linear):
    """A layer whose weights may not be negative."""

    def forward(self, x):
        with torch.no_grad():
            self.weight.clamp_(min=0)
        return super().forward(x)


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = MonotoneLinear(5, 12), MonotoneLinear(12, 1)

    def forward(self, x):
        return self.l2(torch.tanh(self.l1(x))).squeeze(-1)


torch.manual_seed(12)
model = Ranker()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
worth = torch.tensor([1.0, 0.6, 0.3, 0.1, 0.0])
for step in range(8):
    a, b = torch.randn(16, 5), torch.randn(16, 5)
    better = torch.sign((a - b) @ worth)
    loss = F.margin_ranking_loss(model(a), model(b).detach(), better, margin=0.3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss %.6f zeros %d" % (loss.item(), (model.l1.weight == 0).sum().item()))
