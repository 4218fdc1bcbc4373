import torch


def morse(pos, depth=1.0, a=1.2, r0=1.1):
    n = pos.shape[1]
    i, j = torch.triu_indices(n, n, 1)
    d = (pos[:, i] - pos[:, j]).norm(dim=-1)
    return (depth * ((1 - torch.exp(-a * (d - r0))) ** 2 - 1)).sum(-1)


def sample(n_frames, n_atoms=4):
    base = torch.tensor([[0.0, 0, 0], [1.2, 0, 0], [0.6, 1.0, 0], [0.6, 0.4, 1.0]])[:n_atoms]
    pos = (base + 0.12 * torch.randn(n_frames, n_atoms, 3)).requires_grad_(True)
    e = morse(pos)
    f = -torch.autograd.grad(e.sum(), pos)[0]
    return pos.detach(), e.detach(), f


class Frames:
    def __init__(self, n):
        self.pos, self.e, self.f = sample(n)
        self.shift = self.e.mean()

    def batches(self, size, shuffle):
        order = torch.randperm(len(self.e)) if shuffle else torch.arange(len(self.e))
        for k in range(0, len(order), size):
            j = order[k:k + size]
            yield self.pos[j], self.e[j] - self.shift, self.f[j]
