import torch


def vessels(n, size=32):
    """bent bright tubes of two widths on a noisy background"""
    g = torch.Generator().manual_seed(1)
    ys = torch.arange(size).float().view(1, size, 1)
    xs = torch.arange(size).float().view(1, 1, size)
    a, p, o = (torch.rand(3, n, 1, 1, generator=g) * torch.tensor([5.0, 6.0, 16.0]).view(3, 1, 1, 1))
    centre = 8 + o + a * torch.sin(xs / 5 + p)
    width = 1.0 + 1.5 * torch.rand(n, 1, 1, generator=g)
    mask = ((ys - centre).abs() < width).float().unsqueeze(1)
    return mask * 0.8 + 0.3 * torch.randn(mask.shape, generator=g), mask
