import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2100)


class PrototypeBank(nn.Module):
    def __init__(self, n_classes, dim, alpha=0.6):
        super().__init__()
        self.register_buffer("_protos", F.normalize(torch.randn(n_classes, dim), dim=1))
        self.alpha = alpha

    @property
    def prototypes(self):
        return self._protos

    def absorb(self, feats, labels):
        for c in labels.unique():
            mean = feats[labels == c].mean(0)
            self._protos[c] = self.alpha * self._protos[c] + (1 - self.alpha) * mean.detach()


class Net(nn.Module):
    def __init__(self, dim=6, n_classes=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, dim))
        self.bank = PrototypeBank(n_classes, dim)
        self.gain = nn.Parameter(torch.tensor(0.5))

    def forward(self, x, labels):
        z = F.normalize(self.encoder(x), dim=1)
        before = self.bank.prototypes
        logits = z @ before.t() / 0.2
        moved = (self.bank.prototypes - before).pow(2).sum(1)
        drift = (moved * torch.sigmoid(self.gain)).mean()
        with torch.no_grad():
            self.bank._protos = self.bank._protos.clone()
            self.bank.absorb(z, labels)
        return F.cross_entropy(logits, labels) + drift, drift


def main():
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9)
    for it in range(6):
        labels = torch.arange(20) % 4
        x = torch.randn(20, 10) + 2 * F.one_hot(labels, 10)
        loss, drift = net(x, labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"loss {loss.item():.6f} drift {drift.item():.6f} gain {net.gain.item():.6f}")


main()
