import torch
import torch.nn as nn
import torch.nn.functional as TF
import torch.nn.utils.parametrize as P


class WeightStandardization(nn.Module):
    def __init__(self, eps: float = 1e-6):
        super().__init__()
        self.eps = eps

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        var, mean = torch.var_mean(weight, dim=(1, 2), keepdim=True)
        fan_in = weight[0].numel()
        return (weight - mean) / torch.sqrt(var * fan_in + self.eps)


class FeatHead(nn.Module):
    """The convolution is used twice in a forward, so its weight is worth caching."""

    def __init__(self, channels=4):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 3, padding=1)
        self.gain = nn.Parameter(torch.ones(channels, 1))
        P.register_parametrization(self.conv, "weight", WeightStandardization())

    def forward(self, x):
        x = x + TF.leaky_relu(self.conv(x), 0.1) * self.gain
        return x + TF.leaky_relu(self.conv(x), 0.1) * self.gain


def train():
    torch.manual_seed(72041)
    net, out = FeatHead(), nn.Linear(4, 1)
    optimizer = torch.optim.SGD([*net.parameters(), *out.parameters()], lr=0.05)
    for step in range(6):
        with P.cached():
            x = torch.randn(10, 4, 9)
            y = x[:, 0].mean(1, keepdim=True)
            loss = TF.mse_loss(out(net(x).mean(2)), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss, net


if __name__ == "__main__":
    loss, net = train()
    print(f"{loss.item():.6f} {net.conv.parametrizations.weight.original.norm().item():.6f}")
