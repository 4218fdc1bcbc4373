import torch


def scenes(n, size):
    g = torch.Generator().manual_seed(0)
    a, b, c = (torch.randn(10, k, generator=g) for k in (4, 1, 3))
    out = []
    for _ in range(n):
        x = torch.randn(size, 10, generator=g)
        out.append((x, {"seg": (x @ a).argmax(1),
                        "depth": 3.0 * (x @ b).abs() + torch.randn(size, 1, generator=g),
                        "normal": torch.nn.functional.normalize(x @ c, dim=1)}))
    return out
