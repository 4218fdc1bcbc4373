import torch


def blobs(n, dim=12, k=6):
    """Noisy cluster centres seen through a fixed nonlinearity."""
    centres = torch.randn(k, 4) * 2
    latent = centres[torch.randint(0, k, (n,))] + 0.2 * torch.randn(n, 4)
    return torch.tanh(latent @ torch.randn(4, dim))
