import torch

E0 = torch.tensor([-0.5, -1.8])
DEPTH = torch.tensor([[0.6, 1.1], [1.1, 0.8]])
R0 = torch.tensor([[0.8, 1.0], [1.0, 1.3]])


def label(z, pos):
    """Morse pairs, the stand-in for DFT"""
    i, j = torch.triu_indices(len(z), len(z), 1)
    vec = pos[i] - pos[j]
    r = vec.norm(dim=1)
    d, r0 = DEPTH[z[i], z[j]], R0[z[i], z[j]]
    ex = torch.exp(-1.6 * (r - r0))
    energy = E0[z].sum() + (d * ((1 - ex) ** 2 - 1)).sum()
    dv = (2 * d * (1 - ex) * ex * 1.6 / r).unsqueeze(1) * vec
    forces = torch.zeros_like(pos).index_add(0, i, -dv).index_add(0, j, dv)
    return {'z': z, 'pos': pos, 'energy': energy, 'forces': forces}


def build_dataset(seed):
    gen = torch.Generator().manual_seed(seed)
    water = torch.tensor([[0., 0., 0.], [1.0, 0., 0.], [-0.25, 0.97, 0.]])
    frames = []
    for _ in range(14):
        frames.append(label(torch.tensor([1, 0, 0]), water + 0.12 * torch.randn(3, 3, generator=gen)))
    for r in (0.7, 0.8, 0.9, 1.1, 1.4, 1.8, 2.4, 5.0):  # dissociation of O-H
        frames.append(label(torch.tensor([1, 0]), torch.tensor([[0., 0., 0.], [r, 0., 0.]])))
    for z in (0, 1):  # free atoms
        frames.append(label(torch.tensor([z]), torch.zeros(1, 3)))
    return frames
