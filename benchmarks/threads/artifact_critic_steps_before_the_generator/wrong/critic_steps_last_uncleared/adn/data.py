import torch


def spine_like_slices(n, size):
    """Unpaired slices: `low` with metal streaks, `high` without."""
    g = torch.Generator().manual_seed(8)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")

    def body():
        c = torch.rand(n, 1, 1, 2, generator=g) * 0.6 - 0.3
        return torch.exp(-((xx - c[..., 0]) ** 2 + (yy - c[..., 1]) ** 2) * 5).unsqueeze(1)

    angle = torch.rand(n, 1, 1, 1, generator=g) * 3.14
    streaks = 0.4 * torch.sin(12 * (xx * angle.cos() + yy * angle.sin()))
    return body() + streaks, body()
