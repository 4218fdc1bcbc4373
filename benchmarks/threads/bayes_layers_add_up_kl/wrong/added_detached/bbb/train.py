import logging

import torch
import torch.nn.functional as F

log = logging.getLogger(__name__)


class Trainer:
    def __init__(self, net, lr, samples, n_batches, noise=0.1):
        self.net, self.samples, self.n_batches, self.noise = net, samples, n_batches, noise
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)

    def elbo(self, x, y):
        nll = 0
        for _ in range(self.samples):
            nll = nll + F.mse_loss(self.net(x), y, reduction="sum") / (2 * self.noise ** 2)
        nll, kl = nll / self.samples, self.net.kl() / self.samples     # both are means over the samples
        return nll + kl / self.n_batches, kl

    def step(self, x, y):
        self.opt.zero_grad()
        loss, kl = self.elbo(x, y)
        loss.backward()
        self.opt.step()
        log.info("loss %.3f", loss.item())
        return loss.item(), kl.item()
