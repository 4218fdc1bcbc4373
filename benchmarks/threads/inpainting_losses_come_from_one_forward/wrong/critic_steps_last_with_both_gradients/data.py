import torch


def masked_batches(n, batch, size):
    grid = torch.linspace(-1, 1, size)
    for _ in range(n):
        a, b, s = (torch.rand(batch, 1, 1) * 4 for _ in range(3))
        image = torch.tanh(2 * torch.sin(a * grid[None, None, :] + s) * torch.cos(b * grid[None, :, None]))[:, None]
        mask = torch.zeros(batch, 1, size, size)
        for m in mask:
            top, left = torch.randint(0, size // 2, (2,)).tolist()
            m[:, top:top + size // 2, left:left + size // 2] = 1.0
        yield image, image * (1.0 - mask), mask
