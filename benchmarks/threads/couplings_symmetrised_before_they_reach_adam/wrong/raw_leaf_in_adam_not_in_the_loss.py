"""
Fit an Ising-like model (pseudo likelihood) to +-1 spins: fields h and a symmetric coupling matrix J
with an empty diagonal.
"""
import math
import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

N_SPINS = 7
N_SAMPLES = 160


def true_model():
    gen = torch.Generator().manual_seed(21)
    J = torch.randn(N_SPINS, N_SPINS, generator=gen) / math.sqrt(N_SPINS)
    J = (J + J.T) / 2
    J.fill_diagonal_(0)
    h = 0.2 * torch.randn(N_SPINS, generator=gen)
    return J, h


def gibbs(J, h, n, sweeps=10):
    gen = torch.Generator().manual_seed(4)
    s = torch.where(torch.rand(n, N_SPINS, generator=gen) > 0.5, 1.0, -1.0)
    for _ in range(sweeps):
        for i in range(N_SPINS):
            p = torch.sigmoid(2 * (s @ J[:, i] + h[i]))
            s[:, i] = torch.where(torch.rand(n, generator=gen) < p, 1.0, -1.0)
    return s


def neg_pseudo_likelihood(s, J, h):
    """sum over sites of -log p(s_i | all others); row i of J acts on site i"""
    local = s @ J.T + h
    return torch.nn.functional.softplus(-2 * s * local).sum(1).mean()


def sparsity(J):
    # one half is enough, J is symmetric
    return torch.triu(J, diagonal=1).abs().sum()


class Fit:
    def __init__(self, lr=0.02, l1=0.01):
        self.l1 = l1
        J = torch.randn(N_SPINS, N_SPINS, requires_grad=True)
        self.raw = J
        self.J = (0.1 * (J + J.T) * (1 - torch.eye(N_SPINS))).detach()
        self.h = torch.zeros(N_SPINS, requires_grad=True)
        self.optimizer = torch.optim.Adam([self.raw, self.h], lr=lr)

    def couplings(self):
        return self.J

    def epoch(self, samples, batch=40):
        total = 0.0
        for s in samples.split(batch):
            J = self.couplings()
            loss = neg_pseudo_likelihood(s, J, self.h) + self.l1 * sparsity(J)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(s)
        return total / len(samples)


def report(fit, J_true, h_true):
    with torch.no_grad():
        J = fit.couplings()
        rms = (J - J_true).pow(2).mean().sqrt().item()
        asym = (J - J.T).abs().max().item()
        diag = J.diagonal().abs().max().item()
        dh = (fit.h - h_true).abs().mean().item()
    print("rms error of J %.5f   of h %.5f" % (rms, dh))
    assert asym < 1e-9 and diag < 1e-9, "J must stay symmetric with an empty diagonal (%.2g, %.2g)" % (asym, diag)


if __name__ == "__main__":
    J_true, h_true = true_model()
    samples = gibbs(J_true, h_true, N_SAMPLES)
    fit = Fit()
    for ep in range(6):
        nll = fit.epoch(samples)
        if ep % 2 == 0:
            print("epoch %d   -log PL %.5f" % (ep, nll))
    report(fit, J_true, h_true)
