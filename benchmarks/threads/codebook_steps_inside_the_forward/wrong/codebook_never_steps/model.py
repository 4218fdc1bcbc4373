from torch import nn
from torch.optim import SGD

from vq import VectorQuant


class Autoencoder(nn.Module):
    def __init__(self, dim, width, code_dim, num_codes, beta, inplace_lr):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, width), nn.GELU(), nn.Linear(width, code_dim))
        self.vq = VectorQuant(num_codes, code_dim, beta,
                              inplace_optimizer=lambda params: SGD(params, lr=inplace_lr, momentum=0.5))
        self.decoder = nn.Sequential(nn.Linear(code_dim, width), nn.GELU(), nn.Linear(width, dim))

    def main_parameters(self):
        yield from self.encoder.parameters()
        yield from self.decoder.parameters()

    def forward(self, x):
        z = self.encoder(x)
        z_q, commit, q = self.vq(z)
        return self.decoder(z_q), commit, q
