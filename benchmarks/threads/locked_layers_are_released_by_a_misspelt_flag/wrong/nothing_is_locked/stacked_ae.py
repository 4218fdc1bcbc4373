import torch.nn as nn


class AutoEncoderLayer(nn.Module):
    """一层自编码器: 一个编码器和一个解码器"""

    def __init__(self, input_dim, output_dim):
        super(AutoEncoderLayer, self).__init__()
        self.encoder = nn.Linear(input_dim, output_dim)
        self.decoder = nn.Linear(output_dim, input_dim)

    def encode(self, x):
        return self.encoder(x).tanh()

    def decode(self, h):
        return self.decoder(h).sigmoid()

    def lock_grad(self):
        for param in self.parameters():
            param.requires_grad = False

    def acquire_grad(self):
        for param in self.parameters():
            param.require_grad = True


class StackedAutoEncoder(nn.Module):
    def __init__(self, sizes):
        super(StackedAutoEncoder, self).__init__()
        self.layers = nn.ModuleList([AutoEncoderLayer(a, b) for a, b in zip(sizes[:-1], sizes[1:])])

    def forward(self, x, depth=None):
        depth = len(self.layers) if depth is None else depth
        for layer in self.layers[:depth]:
            x = layer.encode(x)
        for layer in reversed(self.layers[:depth]):
            x = layer.decode(x)
        return x
