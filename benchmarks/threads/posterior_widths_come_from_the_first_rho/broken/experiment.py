import torch


class Experiment:
    def __init__(self, net, loader, lr, samples, noise_std):
        self.net = net
        self.loader = loader
        self.samples = samples
        self.noise_std = noise_std
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)

    def elbo_loss(self, x, y):
        nll = 0
        for _ in range(self.samples):
            nll = nll + 0.5 * (((self.net(x) - y) / self.noise_std) ** 2).sum()
        nll = nll / self.samples
        kl = self.net.kl() / len(self.loader)
        return nll + kl, nll, kl

    def run(self, epochs):
        n = len(self.loader.dataset)
        for epoch in range(epochs):
            self.net.train()
            sums = [0.0, 0.0, 0.0]
            for x, y in self.loader:
                terms = self.elbo_loss(x, y)
                self.optimizer.zero_grad()
                terms[0].backward()
                self.optimizer.step()
                sums = [s + t.item() for s, t in zip(sums, terms)]
            print('epoch %d  loss %.4f  nll %.4f  kl %.4f' % (epoch, *[s / n for s in sums]))

    @torch.no_grad()
    def uncertainty(self, x, samples=30):
        self.net.eval()
        draws = torch.stack([self.net(x) for _ in range(samples)])
        return draws.std(0).mean().item()
