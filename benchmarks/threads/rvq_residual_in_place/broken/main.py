import torch
from codec.model import Codec
from codec.solver import Solver


def chirps(n, length, gen):
    t = torch.linspace(0, 1, length)
    f0 = 3 + 5 * torch.rand(n, 1, generator=gen)
    f1 = 5 + 9 * torch.rand(n, 1, generator=gen)
    return torch.sin(6.2832 * (f0 + (f1 - f0) * t / 2) * t)[:, None]


if __name__ == '__main__':
    torch.manual_seed(25)
    gen = torch.Generator().manual_seed(25)
    solver = Solver(Codec(dim=6, n_q=3, bins=12))
    for step in range(6):
        m = solver.run_step(chirps(6, 64, gen))
        print(' '.join(f'{k}={v:.6f}' for k, v in m.items()))
