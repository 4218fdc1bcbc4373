from torch import nn


class ConvBody(nn.Module):
    def __init__(self, width=12, groups=3):
        super().__init__()
        self.out_dim = width

        def block(i, o):
            return [nn.Conv1d(i, o, 5, stride=2, padding=2), nn.GroupNorm(groups, o), nn.ReLU()]

        self.net = nn.Sequential(*block(1, width), *block(width, width))

    def forward(self, x):
        return self.net(x).mean(-1)
