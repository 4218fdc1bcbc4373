import torch


class TwoCrops:
    def __init__(self, dim, latent):
        self.basis = torch.randn(latent, dim)

    def batch(self, n):
        x = torch.randn(n, self.basis.shape[0]) @ self.basis
        return x + 0.3 * torch.randn_like(x), x + 0.3 * torch.randn_like(x)
