from torch import nn


class CLUBMean(nn.Module):
    """Contrastive log-ratio upper bound of the mutual information of x and y; q(y|x) is a Gaussian."""

    def __init__(self, x_dim, y_dim, hidden=16):
        super().__init__()
        self.p_mu = nn.Sequential(nn.Linear(x_dim, hidden), nn.ReLU(), nn.Linear(hidden, y_dim))
        self.p_logvar = nn.Sequential(nn.Linear(x_dim, hidden), nn.ReLU(), nn.Linear(hidden, y_dim), nn.Tanh())

    def loglikelihood(self, x, y):
        mu, logvar = self.p_mu(x), self.p_logvar(x)
        return (-(mu - y) ** 2 / logvar.exp() - logvar).sum(dim=1).mean()

    def learning_loss(self, x, y):
        return -self.loglikelihood(x, y)

    def forward(self, x, y):
        mu, logvar = self.p_mu(x), self.p_logvar(x)
        positive = -(mu - y) ** 2 / 2.0 / logvar.exp()
        negative = -((y.unsqueeze(0) - mu.unsqueeze(1)) ** 2).mean(dim=1) / 2.0 / logvar.exp()
        return (positive.sum(dim=-1) - negative.sum(dim=-1)).mean()
