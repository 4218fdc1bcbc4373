import torch
from torch import nn


class GaussianModel:
    """Isotropic blobs in the plane."""

    def __init__(self, n):
        self._xy = nn.Parameter(torch.rand(n, 2))
        self._rgb = nn.Parameter(torch.rand(n, 3))
        self._scale = nn.Parameter(torch.full((n, 1), -1.5))

    def training_setup(self, lr_xy, lr_rgb, lr_scale):
        self.lrs = (lr_xy, lr_rgb, lr_scale)
        self.optimizer = torch.optim.Adam([
            {"params": [self._xy], "lr": lr_xy, "name": "xy"},
            {"params": [self._rgb], "lr": lr_rgb, "name": "rgb"},
            {"params": [self._scale], "lr": lr_scale, "name": "scale"}])
        self.grad_accum = torch.zeros(len(self._xy))

    def add_densification_stats(self):
        self.grad_accum += self._xy.grad.norm(dim=1)

    def densify_and_clone(self, k):
        chosen = self.grad_accum.topk(k).indices
        jitter = 0.05 * torch.randn(k, 2)
        self._xy = nn.Parameter(torch.cat([self._xy, self._xy[chosen] + jitter]).detach())
        self._rgb = nn.Parameter(torch.cat([self._rgb, self._rgb[chosen]]).detach())
        self._scale = nn.Parameter(torch.cat([self._scale, self._scale[chosen]]).detach())
        self.training_setup(*self.lrs)

    def render(self, grid):
        d2 = (grid[:, None] - self._xy[None]).pow(2).sum(-1)
        w = torch.exp(-0.5 * d2 / self._scale.exp().squeeze(1).pow(2))
        return (w @ self._rgb) / (w.sum(1, keepdim=True) + 0.1)


def target_image(grid):
    return torch.stack([(grid[:, 0] > 0.5).float(), torch.sin(6 * grid[:, 1]).abs(), grid.prod(1)], 1)


def training(iterations=9, densify_every=3):
    torch.manual_seed(69)
    axis = torch.linspace(0, 1, 8)
    grid = torch.cartesian_prod(axis, axis)
    gt = target_image(grid)
    gaussians = GaussianModel(5)
    gaussians.training_setup(0.01, 0.02, 0.02)
    for iteration in range(1, iterations + 1):
        image = gaussians.render(grid)
        loss = (image - gt).abs().mean()
        loss.backward()
        gaussians.add_densification_stats()
        gaussians.optimizer.step()
        gaussians.optimizer.zero_grad(set_to_none=True)
        if iteration % densify_every == 0 and iteration < iterations:
            gaussians.densify_and_clone(2)
        print("iteration %d points %d loss %.6f" % (iteration, len(gaussians._xy), loss.item()))


if __name__ == "__main__":
    training()
