import torch


class OccupancyGrid:
    """running maximum of the density per cell; says where samples are worth while"""

    def __init__(self, res=16, decay=0.9):
        self.res, self.decay = res, decay
        self.density = torch.full((res,), 4.0)

    def update(self, field):
        centre = (torch.arange(self.res) + torch.rand(self.res)) / self.res
        sigma, _ = field.density(centre)
        self.density = torch.maximum(self.density * self.decay, sigma.detach())

    def sample(self, u):
        """positions by inverting the piecewise constant cdf"""
        pdf = (self.density + 0.05) / (self.density + 0.05).sum()
        cdf = torch.cat([torch.zeros(1), pdf.cumsum(0)])
        cell = (torch.searchsorted(cdf.detach(), u, right=True) - 1).clamp(0, self.res - 1)
        frac = (u - cdf[cell]) / pdf[cell]
        return (cell + frac.clamp(0, 1)) / self.res


def render(field, grid, rays, n):
    u = (torch.arange(n) + 0.5).expand(rays.shape[0], n) / n
    t = grid.sample(u.contiguous())
    sigma, color = field(t, rays)
    delta = torch.diff(t, dim=1, append=torch.ones(rays.shape[0], 1)).clamp(min=0)
    alpha = 1 - torch.exp(-sigma * delta)
    trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-7], 1), 1)[:, :-1]
    w = alpha * trans
    return (w.unsqueeze(-1) * color).sum(1), w.sum(1)
