import torch
from torch import nn
import torch.nn.functional as F


class ScalarMix(nn.Module):
    """Weighted sum of the hidden states of all layers."""

    def __init__(self, n_layers):
        super().__init__()
        self.layer_weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(1))

    def forward(self, hidden_states):
        self.layer_weights = nn.Parameter(F.softmax(self.layer_weights, dim=0))
        stacked = torch.stack(hidden_states, 0)
        return self.gamma * (self.layer_weights.view(-1, 1, 1) * stacked).sum(0)


class Encoder(nn.Module):
    def __init__(self, d=8, depth=3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(d, d), nn.Tanh()) for _ in range(depth))
        self.mix, self.cls = ScalarMix(depth), nn.Linear(d, 2)

    def forward(self, x):
        states = []
        for layer in self.layers:
            x = layer(x)
            states.append(x)
        return self.cls(self.mix(states))


torch.manual_seed(44)
net = Encoder()
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
for _ in range(6):
    x = torch.randn(20, 8)
    loss = F.cross_entropy(net(x), (x[:, 0] * x[:, 1] > 0).long())
    opt.zero_grad(); loss.backward(); opt.step()
print("%.6f" % loss.item(), "%.6f" % net.mix.layer_weights.abs().sum().item())
