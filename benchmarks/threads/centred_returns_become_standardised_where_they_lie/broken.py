"""End-to-end portfolio: a recurrent net re-weighs past returns, their shrunk covariance gives the allocation."""
import torch
import torch.nn as nn

LOOKBACK, HORIZON, ASSETS = 20, 5, 6


def simulate(n_days=260, seed=8):
    g = torch.Generator().manual_seed(seed)
    factor = 0.010 * torch.randn(n_days, 2, generator=g)
    loadings = torch.randn(2, ASSETS, generator=g)
    drift = torch.linspace(-2e-4, 8e-4, ASSETS)
    return drift + factor @ loadings + 0.006 * torch.randn(n_days, ASSETS, generator=g)


def windows(returns, batch_size):
    starts = range(0, len(returns) - LOOKBACK - HORIZON, 5)
    xs = torch.stack([returns[s:s + LOOKBACK] for s in starts]) * 100
    ys = torch.stack([returns[s + LOOKBACK:s + LOOKBACK + HORIZON] for s in starts]) * 100
    return list(zip(xs.split(batch_size), ys.split(batch_size)))


class CovarianceMatrix(nn.Module):
    """Covariance of the columns of every sample, shrunk towards its constant-correlation prior."""

    def __init__(self, shrinkage_coef=0.4):
        super().__init__()
        self.shrinkage_coef = shrinkage_coef

    def forward(self, x):
        return torch.stack([self.compute_covariance(sample.t(), self.shrinkage_coef) for sample in x])

    @staticmethod
    def compute_covariance(m, shrinkage_coef):
        """m has one row per asset and one column per day."""
        fact = 1.0 / (m.size(1) - 1)
        m = m - m.mean(dim=1, keepdim=True)
        s = fact * m @ m.t()

        std = s.diagonal().sqrt()
        m /= std.unsqueeze(1)
        corr = fact * m @ m.t()
        n = len(corr)
        rho = (corr.sum() - corr.diagonal().sum()) / (n * (n - 1))
        prior = rho * torch.outer(std, std)
        prior = prior + torch.diag(s.diagonal() - prior.diagonal())
        return shrinkage_coef * s + (1 - shrinkage_coef) * prior


class NumericalRiskBudget(nn.Module):
    """Long-only weights that are proportional to the solution of Sigma w = b."""

    def forward(self, covmat, budget):
        eye = torch.eye(covmat.size(-1)).expand_as(covmat)
        w = torch.linalg.solve(covmat + 0.05 * eye, budget.unsqueeze(-1)).squeeze(-1)
        w = torch.nn.functional.softplus(w)
        return w / w.sum(dim=1, keepdim=True)


class BachelierLikeNet(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.norm = nn.InstanceNorm1d(ASSETS, affine=True)
        self.rnn = nn.GRU(ASSETS, hidden, batch_first=True)
        self.gate = nn.Linear(hidden, ASSETS)
        self.budget = nn.Linear(hidden, ASSETS)
        self.covariance = CovarianceMatrix()
        self.allocate = NumericalRiskBudget()

    def forward(self, x):
        h, _ = self.rnn(self.norm(x.transpose(1, 2)).transpose(1, 2))
        weighted = x * torch.sigmoid(self.gate(h))
        covmat = self.covariance(weighted)
        budget = torch.softmax(self.budget(h[:, -1]), dim=1)
        return self.allocate(covmat, budget)


def negative_sharpe(weights, future, eps=1e-3):
    portfolio = (future * weights.unsqueeze(1)).sum(dim=2)
    return -(portfolio.mean(dim=1) / (portfolio.std(dim=1) + eps)).mean()


class Run:
    def __init__(self, network, batches, lr=5e-3):
        self.network = network
        self.batches = batches
        self.optimizer = torch.optim.Adam(network.parameters(), lr=lr, amsgrad=True)

    def launch(self, n_epochs):
        for epoch in range(n_epochs):
            losses = []
            for x, y in self.batches:
                self.optimizer.zero_grad()
                weights = self.network(x)
                loss = negative_sharpe(weights, y)
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            largest = weights.max(dim=1).values.mean().item()
            print(f"Epoch {epoch}: loss {sum(losses) / len(losses):.5f}, largest weight {largest:.4f}")


if __name__ == "__main__":
    torch.manual_seed(4)
    Run(BachelierLikeNet(), windows(simulate(), batch_size=16)).launch(n_epochs=4)
