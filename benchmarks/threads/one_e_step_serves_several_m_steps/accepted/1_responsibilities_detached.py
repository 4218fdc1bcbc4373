import math
from typing import Callable, Tuple

import torch
import torch.nn as nn
from torch import Tensor

# Generalised EM for a mixture of small regression networks.
#   E-step: who is responsible for which point
#   M-step: a few gradient steps on the expected complete-data log-likelihood

torch.manual_seed(42)

K = 3
EM_ROUNDS = 5
M_STEPS = 4


class Expert(nn.Module):

    def __init__(self, hidden: int = 12) -> None:
        super().__init__()
        self.f = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.log_sigma = nn.Parameter(torch.tensor(-0.5))

    def log_prob(self, x: Tensor, y: Tensor) -> Tensor:
        residual = (y - self.f(x)).squeeze(-1)
        return -0.5 * (residual / self.log_sigma.exp()) ** 2 - self.log_sigma - 0.5 * math.log(2 * math.pi)


class MixtureOfExperts(nn.Module):

    def __init__(self, k: int) -> None:
        super().__init__()
        self.experts = nn.ModuleList(Expert() for _ in range(k))
        self.gate = nn.Linear(1, k)

    def joint(self, x: Tensor, y: Tensor) -> Tensor:
        """log p(y, z=k | x), one column per expert"""
        log_pi = torch.log_softmax(self.gate(x), -1)
        log_lik = torch.stack([e.log_prob(x, y) for e in self.experts], -1)
        return log_pi + log_lik

    def log_likelihood(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.logsumexp(self.joint(x, y), -1).mean()


def make_data(n: int) -> Tuple[Tensor, Tensor]:
    x = torch.rand(n, 1) * 4 - 2
    branch = torch.randint(0, K, (n, 1))
    curves = torch.cat([torch.sin(2 * x), 0.5 * x**2 - 1.0, -x + 1.0], -1)
    return x, curves.gather(1, branch) + 0.05 * torch.randn(n, 1)


def e_step(model: MixtureOfExperts, x: Tensor, y: Tensor) -> Tensor:
    return torch.softmax(model.joint(x, y), -1).detach()


def m_step(model: MixtureOfExperts, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, resp: Tensor,
           steps: int, callback: Callable[[float], None]) -> None:
    for _ in range(steps):
        q = (resp * model.joint(x, y)).sum(-1).mean()
        loss = -q
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        callback(q.item())


def fit() -> None:
    x, y = make_data(120)
    model = MixtureOfExperts(K)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for em_round in range(EM_ROUNDS):
        bounds = []
        resp = e_step(model, x, y)
        m_step(model, optimizer, x, y, resp, M_STEPS, bounds.append)
        with torch.no_grad():
            ll = model.log_likelihood(x, y).item()
        share = " ".join("%.4f" % s for s in resp.mean(0).tolist())
        print("round %d  Q %.5f -> %.5f  log-lik %.5f  shares %s" % (em_round, bounds[0], bounds[-1], ll, share))


if __name__ == "__main__":
    fit()
