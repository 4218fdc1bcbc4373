import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, vocab, hidden, nz):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(vocab, hidden), nn.Softplus(), nn.Linear(hidden, hidden), nn.Softplus())
        self.mu = nn.Linear(hidden, nz)
        self.logvar = nn.Linear(hidden, nz)

    def forward(self, bags):
        h = self.body(torch.log1p(bags))
        return self.mu(h), self.logvar(h).clamp(-6, 4)


class Decoder(nn.Module):
    def __init__(self, nz, hidden, vocab):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(nz, hidden), nn.Tanh(), nn.Linear(hidden, vocab))

    def forward(self, z):
        return F.log_softmax(self.net(z), dim=-1)


class SentenceVAE(nn.Module):
    def __init__(self, vocab, hidden, nz):
        super().__init__()
        self.encoder = Encoder(vocab, hidden, nz)
        self.decoder = Decoder(nz, hidden, vocab)

    @staticmethod
    def sample(mu, logvar):
        return mu + torch.randn_like(mu) * (0.5 * logvar).exp()

    @staticmethod
    def kl(mu, logvar):
        return 0.5 * (mu.pow(2) + logvar.exp() - logvar - 1).sum(-1)

    def reconstruction(self, bags, z):
        return -(bags * self.decoder(z)).sum(-1)

    def elbo(self, bags, mu, logvar, kl_weight):
        """Negative, averaged over the batch, with a fresh sample of z."""
        z = self.sample(mu, logvar)
        return (self.reconstruction(bags, z) + kl_weight * self.kl(mu, logvar)).mean()
