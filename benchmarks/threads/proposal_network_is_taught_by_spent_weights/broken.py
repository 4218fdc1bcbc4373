"""A radiance field on rays of a 2-d scene, sampled by a small proposal network (mip-NeRF 360, online distillation)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
NEAR, FAR, COARSE, FINE = 0.0, 2.0, 16, 12


class Field(nn.Module):
    """Density and colour."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU())
        self.sigma, self.rgb = nn.Linear(32, 1), nn.Linear(32, 3)

    def forward(self, x):
        h = self.body(x)
        return F.softplus(self.sigma(h)).squeeze(-1), torch.sigmoid(self.rgb(h))


class Proposal(nn.Module):
    """Density only."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, x):
        return F.softplus(self.net(x) - 3.0).squeeze(-1)


def weights_of(sigma, edges):
    alpha = 1 - torch.exp(-sigma * (edges[:, 1:] - edges[:, :-1]))
    trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha[:, :-1] + 1e-7], 1), 1)
    return alpha * trans


def points(o, d, edges):
    mid = 0.5 * (edges[:, 1:] + edges[:, :-1])
    return o[:, None] + mid[..., None] * d[:, None]


@torch.no_grad()
def resample(edges, w, n):
    """Edges of n new intervals by the inverse of the cdf."""
    pdf = (w + 0.01) / (w + 0.01).sum(1, keepdim=True)
    cdf = torch.cat([torch.zeros(len(w), 1), pdf.cumsum(1)], 1).clamp(max=1.0)
    u = torch.linspace(0, 1, n + 1).expand(len(w), -1).contiguous()
    i = torch.searchsorted(cdf, u, right=True).clamp(1, w.shape[1])
    c0, c1 = cdf.gather(1, i - 1), cdf.gather(1, i)
    e0, e1 = edges.gather(1, i - 1), edges.gather(1, i)
    return e0 + (u - c0) / (c1 - c0).clamp(min=1e-6) * (e1 - e0)


def outer_bound(edges, w_prop, fine):
    """Sum of the proposal's weights over all intervals that overlap with each fine one."""
    overlap = (edges[:, None, 1:] > fine[:, :-1, None]) & (edges[:, None, :-1] < fine[:, 1:, None])
    return (overlap * w_prop[:, None]).sum(-1)


def interlevel_loss(edges, w_prop, fine, w):
    bound = outer_bound(edges, w_prop, fine)
    return (F.relu(w - bound) ** 2 / (w + 1e-5)).sum(-1).mean()


def scene(n):
    """Rays towards a red disk before a blue wall."""
    y = torch.rand(n) * 1.6 - 0.8
    o = torch.stack([torch.full((n,), -1.0), y], 1)
    d = torch.tensor([1.0, 0.0]).expand(n, -1)
    red, blue = torch.tensor([0.9, 0.1, 0.1]), torch.tensor([0.1, 0.1, 0.8])
    return o, d, torch.where((y.abs() < 0.4)[:, None], red, blue)


def main():
    field, proposal = Field(), Proposal()
    opt_field = torch.optim.Adam(field.parameters(), lr=5e-3)
    opt_prop = torch.optim.Adam(proposal.parameters(), lr=5e-3)
    edges0 = torch.linspace(NEAR, FAR, COARSE + 1)
    for it in range(20):
        o, d, colour = scene(32)
        edges = edges0.expand(len(o), -1)
        w_prop = weights_of(proposal(points(o, d, edges)), edges)
        fine = resample(edges, w_prop, FINE)
        sigma, rgb = field(points(o, d, fine))
        w = weights_of(sigma, fine)

        photometric = F.mse_loss((w[..., None] * rgb).sum(1), colour)
        opt_field.zero_grad()
        photometric.backward()
        opt_field.step()

        interlevel = interlevel_loss(edges, w_prop, fine, w)
        opt_prop.zero_grad()
        interlevel.backward()
        opt_prop.step()
        if it % 5 == 4:
            print(f"it {it} colour {photometric.item():.5f} interlevel {interlevel.item():.6f} opacity {w.sum(1).mean().item():.4f}")


if __name__ == "__main__":
    main()
