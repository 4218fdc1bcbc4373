import torch

PATTERNS = [
    [[1, 1, 1], [1, 0, 1], [1, 1, 1]],
    [[0, 1, 0], [1, 1, 1], [0, 1, 0]],
    [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
]


def dataset(n, g, size=12):
    """A small pattern at a random place, turned by a random quarter."""
    images = 0.2 * torch.randn(n, 1, size, size, generator=g)
    labels = torch.randint(0, len(PATTERNS), (n,), generator=g)
    for i in range(n):
        pattern = torch.tensor(PATTERNS[labels[i]], dtype=torch.float)
        pattern = torch.rot90(pattern, int(torch.randint(0, 4, (1,), generator=g)))
        y, x = torch.randint(0, size - 3, (2,), generator=g).tolist()
        images[i, 0, y:y + 3, x:x + 3] += 1.5 * pattern
    return images, labels
