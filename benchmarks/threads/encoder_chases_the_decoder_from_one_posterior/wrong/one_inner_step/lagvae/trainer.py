import torch
from torch.nn.utils import clip_grad_norm_


class AggressiveTrainer:
    """Lagging inference networks (He et al. 2019): in the first epochs the inference network takes
    several steps of its own before each step of the generator."""

    def __init__(self, model, lr, burn, clip=5.0):
        self.model = model
        self.burn = burn
        self.clip = clip
        self.enc_opt = torch.optim.SGD(model.encoder.parameters(), lr=lr, momentum=0.5)
        self.dec_opt = torch.optim.SGD(model.decoder.parameters(), lr=lr, momentum=0.5)

    def _zero(self):
        self.enc_opt.zero_grad()
        self.dec_opt.zero_grad()

    def step(self, bags, kl_weight, aggressive):
        self.model.train()
        if aggressive:
            self._burn_in(bags, kl_weight)

        mu, logvar = self.model.encoder(bags)
        loss = self.model.elbo(bags, mu, logvar, kl_weight)
        self._zero()
        loss.backward()
        clip_grad_norm_(self.model.parameters(), self.clip)
        if not aggressive:
            self.enc_opt.step()
        self.dec_opt.step()
        return loss.item()

    def _burn_in(self, bags, kl_weight):
        mu, logvar = self.model.encoder(bags)
        pre, best = 1e9, 0
        for sub_iter in range(self.burn):
            loss = self.model.elbo(bags, mu, logvar, kl_weight)
            self._zero()
            loss.backward()
            clip_grad_norm_(self.model.encoder.parameters(), self.clip)
            self.enc_opt.step()
            if loss.item() < pre:
                pre, best = loss.item(), sub_iter
            break
        return best

    @torch.no_grad()
    def validate(self, bags):
        self.model.eval()
        mu, logvar = self.model.encoder(bags)
        kl = self.model.kl(mu, logvar)
        elbo = (self.model.reconstruction(bags, mu) + kl).mean()
        # E[log q(z|x)] - log q(z), one sample
        z = self.model.sample(mu, logvar)
        var = logvar.exp()
        pair = -0.5 * ((z[:, None] - mu[None]).pow(2) / var[None] + logvar[None]).sum(-1)
        mi = (pair.diagonal() - torch.logsumexp(pair, 1)).mean() + torch.log(torch.tensor(float(len(bags))))
        return elbo.item(), mi.item()

    @staticmethod
    def norm(module):
        return sum(p.detach().pow(2).sum() for p in module.parameters()).sqrt().item()
