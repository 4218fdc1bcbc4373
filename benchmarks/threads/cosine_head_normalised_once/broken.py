import torch
import torch.nn as nn
import torch.nn.functional as F


def standardize(weight: torch.Tensor, eps: float = 1e-6):
    """Weight standardization over the fan-in."""
    var, mean = torch.var_mean(weight, dim=1, keepdim=True)
    return (weight - mean) / torch.sqrt(var * weight.shape[1] + eps)


class CosineHead(nn.Module):
    def __init__(self, in_features: int, n_classes: int, scale: float = 6.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_classes, in_features))
        self.scale = scale
        self.w_hat = standardize(self.weight)

    def forward(self, feats: torch.Tensor) -> torch.Tensor:
        return self.scale * F.linear(F.normalize(feats, dim=1), self.w_hat)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.1), nn.Linear(16, 10))
        self.head = CosineHead(10, 4)

    def forward(self, x):
        return self.head(self.features(x))


def loop(net, batches, opt):
    running = []
    for x, y in batches:
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        running.append(loss.item())
    return running


if __name__ == "__main__":
    torch.manual_seed(71062)
    net = Classifier()
    data = [(torch.randn(20, 8), torch.randint(0, 4, (20,))) for _ in range(7)]
    history = loop(net, data, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9))
    print("%.6f %.6f %.6f" % (history[0], history[-1], net.head.weight.norm().item()))
