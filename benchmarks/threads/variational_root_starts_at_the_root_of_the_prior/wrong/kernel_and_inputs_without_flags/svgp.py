import math

import torch

JITTER = 1e-4


class SVGP:
    """Sparse variational GP, unwhitened: q(u) = N(m, L L^T) at the inducing inputs Z."""

    def __init__(self, kernel, Z):
        self.kernel = kernel
        self.Z = Z.clone()
        self.log_noise = torch.tensor(math.log(0.3), requires_grad=True)
        self.q_mu = torch.zeros(len(Z), requires_grad=True)
        # q starts at the prior
        self.q_sqrt = torch.linalg.cholesky(self.prior_covariance())

    def prior_covariance(self):
        return self.kernel(self.Z, self.Z) + JITTER * torch.eye(len(self.Z))

    @property
    def parameters(self):
        return self.kernel.hyperparameters + [self.Z, self.log_noise, self.q_mu, self.q_sqrt]

    def predict(self, x):
        Lk = torch.linalg.cholesky(self.prior_covariance())
        A = torch.cholesky_solve(self.kernel(self.Z, x), Lk)           # M x N
        mean = A.T @ self.q_mu
        SA = torch.tril(self.q_sqrt).T @ A
        var = torch.exp(self.kernel.log_variance) - (A * self.kernel(self.Z, x)).sum(0) + SA.pow(2).sum(0)
        return mean, var.clamp(min=1e-6)

    def kl(self):
        Lk = torch.linalg.cholesky(self.prior_covariance())
        L = torch.tril(self.q_sqrt)
        alpha = torch.linalg.solve_triangular(Lk, L, upper=False)
        beta = torch.linalg.solve_triangular(Lk, self.q_mu[:, None], upper=False)
        logdet = 2 * Lk.diagonal().log().sum() - 2 * L.diagonal().abs().log().sum()
        return 0.5 * (alpha.pow(2).sum() + beta.pow(2).sum() - len(self.q_mu) + logdet)

    def elbo(self, x, y, n_total):
        mean, var = self.predict(x)
        noise = torch.exp(2 * self.log_noise)
        ell = -0.5 * (math.log(2 * math.pi) + 2 * self.log_noise + ((y - mean).pow(2) + var) / noise)
        return n_total / len(x) * ell.sum() - self.kl()
