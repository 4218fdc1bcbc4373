import torch


def phantoms(batch, size):
    r = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(r, r, indexing="ij")

    def blob(cx, cy, w):
        return torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / w)

    a, b = [], []
    for _ in range(batch):
        c = (torch.rand(2) - 0.5).tolist()
        a.append(blob(c[0], c[1], 0.2))
        b.append(blob(c[0] + 0.25, c[1] - 0.2, 0.25))
    return torch.stack(a).unsqueeze(1), torch.stack(b).unsqueeze(1)
