import torch.nn.functional as F
from torch import nn


class Generator(nn.Module):
    def __init__(self, ngf):
        super().__init__()
        self.down = nn.Conv2d(1, ngf, 4, 2, 1)
        self.mid = nn.Conv2d(ngf, ngf, 3, 1, 1)
        self.up = nn.Conv2d(ngf, 3, 3, 1, 1)

    def forward(self, x):
        h = F.leaky_relu(self.down(x), 0.2)
        h = h + F.leaky_relu(self.mid(h), 0.2)
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        return self.up(h).tanh()


class PatchDiscriminator(nn.Module):
    def __init__(self, ndf, n_layers):
        super().__init__()
        widths = [4] + [ndf] * n_layers
        self.layers = nn.ModuleList(
            nn.Conv2d(a, b, 3, 2 if i == 0 else 1, 1) for i, (a, b) in enumerate(zip(widths, widths[1:]))
        )
        self.last = nn.Conv2d(ndf, 1, 3, 1, 1)

    def forward(self, x):
        feats = []
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.2)
            feats.append(x)
        feats.append(self.last(x))
        return feats


class MultiscaleDiscriminator(nn.Module):
    def __init__(self, ndf, n_layers, num_D):
        super().__init__()
        self.scales = nn.ModuleList(PatchDiscriminator(ndf, n_layers) for _ in range(num_D))

    def forward(self, x):
        result = []
        for net in self.scales:
            result.append(net(x))
            x = F.avg_pool2d(x, 2)
        return result
