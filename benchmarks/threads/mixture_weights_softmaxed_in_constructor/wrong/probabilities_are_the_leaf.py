import math
import torch
from torch import nn, optim

torch.manual_seed(21)


class SSLGaussMixture:
    """Mixture prior with trainable means, scales and weights (not a Module, on purpose)"""

    def __init__(self, means, inv_std, counts, device='cpu'):
        self.n_components, self.d = means.shape
        self.means = nn.Parameter(means.clone().to(device))
        self.inv_softplus_std = nn.Parameter(inv_std.clone().to(device))
        # weights start from the frequencies of the labelled points
        logits = nn.Parameter(torch.log(counts / counts.sum()).to(device))
        self.weights = nn.Parameter(torch.softmax(logits, dim=0).detach())

    def parameters(self):
        return [self.means, self.inv_softplus_std, self.weights]

    def component_log_prob(self, z):
        std = nn.functional.softplus(self.inv_softplus_std)[:, None]
        diff = (z[:, None, :] - self.means[None]) / std
        return (-0.5 * diff ** 2 - torch.log(std) - 0.5 * math.log(2 * math.pi)).sum(-1)

    def log_prob(self, z, y=None):
        all_log_probs = self.component_log_prob(z)
        mixture = torch.logsumexp(all_log_probs + torch.log(self.weights), dim=1)
        if y is not None:
            known = y >= 0
            picked = all_log_probs.gather(1, y.clamp(min=0)[:, None]).squeeze(1)
            return torch.where(known, picked, mixture)
        return mixture

    def classify(self, z):
        return torch.argmax(self.component_log_prob(z) + torch.log(self.weights), dim=1)


class Coupling(nn.Module):
    def __init__(self, d, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(d // 2, 8), nn.Tanh(), nn.Linear(8, d))

    def forward(self, x):
        a, b = x.chunk(2, dim=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, dim=1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        z = torch.cat([b, a] if self.flip else [a, b], dim=1)
        return z, s.sum(1)


class Flow(nn.Module):
    def __init__(self, d, depth, prior):
        super().__init__()
        self.blocks = nn.ModuleList([Coupling(d, i % 2 == 1) for i in range(depth)])
        self.prior = prior

    def forward(self, x):
        logdet = 0
        for block in self.blocks:
            x, ld = block(x)
            logdet = logdet + ld
        return x, logdet

    def loss(self, x, y=None):
        z, logdet = self(x)
        return -(self.prior.log_prob(z, y) + logdet).mean()


def toy(n):
    y = (torch.rand(n) < 0.3).long()
    x = torch.randn(n, 4) * 0.4 + (2 * y[:, None] - 1) * torch.tensor([1., -.5, .5, 1.])
    mask = torch.rand(n) < 0.6
    return x, y, torch.where(mask, torch.full_like(y, -1), y)


def main():
    prior = SSLGaussMixture(torch.randn(2, 4), torch.zeros(2), torch.tensor([5., 3.]))
    net = Flow(4, 3, prior)
    optimizer = optim.Adam([{'params': net.parameters()},
                            {'params': prior.parameters(), 'lr': 2e-2}], lr=5e-3)
    x, y, partial = toy(48)
    for epoch in range(3):
        for idx in torch.randperm(len(x)).split(16):
            optimizer.zero_grad()
            loss = net.loss(x[idx], partial[idx])
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.)
            optimizer.step()
        with torch.no_grad():
            acc = (prior.classify(net(x)[0]) == y).float().mean().item()
        print('epoch %d loss %.6f acc %.3f' % (epoch, loss.item(), acc))


main()
