import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(494)


class SwAV(nn.Module):
    def __init__(self, d_in=6, d=5, n_proto=7):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(d_in, 16), nn.ReLU(), nn.Linear(16, d))
        self.prototypes = nn.Linear(d, n_proto, bias=False)

    def forward(self, x):
        z = F.normalize(self.backbone(x), dim=1)
        return self.prototypes(z)

    def normalize_prototypes(self):
        with torch.no_grad():
            w = self.prototypes.weight.clone()
            w = F.normalize(w, dim=1, p=2)
            self.prototypes.weight.copy_(w)


@torch.no_grad()
def codes(scores):
    q = torch.exp(scores / 0.3)
    q = q / q.sum(0)
    return q / q.sum(1, keepdim=True)


def train_one_epoch(model, optimizer, n=6):
    for _ in range(n):
        x = torch.randn(20, 6)
        s1, s2 = model(x + 0.1 * torch.randn_like(x)), model(x + 0.1 * torch.randn_like(x))
        loss = -0.5 * ((codes(s1) * F.log_softmax(s2 / 0.2, 1)).sum(1) + (codes(s2) * F.log_softmax(s1 / 0.2, 1)).sum(1)).mean()
        model.normalize_prototypes()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


model = SwAV()
print('%.6f' % train_one_epoch(model, torch.optim.SGD(model.parameters(), lr=0.3)), '%.6f' % model.prototypes.weight.norm().item())
