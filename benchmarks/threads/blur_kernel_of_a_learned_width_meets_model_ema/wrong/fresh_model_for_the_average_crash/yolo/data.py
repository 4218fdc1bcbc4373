import torch


def make_batches(n, size, seed=3, side=16):
    """Images with one bright square; the target grid is 4 x 4 with (objectness, x, y, w)."""
    g = torch.Generator().manual_seed(seed)
    images = 0.1 * torch.randn(n, 1, side, side, generator=g)
    grid = torch.zeros(n, 4, 4, 4)
    for i in range(n):
        w = int(torch.randint(2, 5, (1,), generator=g))
        x, y = (int(v) for v in torch.randint(0, side - w, (2,), generator=g))
        images[i, 0, y:y + w, x:x + w] += 1.0
        cx, cy = (x + w / 2) / 4, (y + w / 2) / 4
        grid[i, :, int(cy), int(cx)] = torch.tensor([1.0, cx % 1, cy % 1, w / 4])
    for i in range(0, n, size):
        yield images[i:i + size], grid[i:i + size]
