import torch


def sample_images(n, size):
    x = torch.zeros(n, size, size)
    for i in range(n):
        r, c = torch.randint(1, size - 5, (2,)).tolist()
        if torch.rand(1) < 0.5:
            x[i, r:r + 4, c:c + 2] = 1.
        else:
            x[i, r:r + 2, c:c + 4] = 1.
    return x
