import torch
from solver import thomas


def call_prices(vol, grid, strikes):
    s = grid.s[1:-1]
    sigma = vol(s, float(grid.s[-1]))
    a = 0.5 * sigma ** 2 * s ** 2 / grid.ds ** 2 * grid.dt
    lower = -a
    upper = -a
    diag = 1 + 2 * a
    out = []
    for k in strikes:
        v = (grid.s - k).clamp(min=0)
        right = v[-1]
        inner = v[1:-1]
        for _ in range(grid.steps):
            rhs = inner.clone()
            rhs[-1] = rhs[-1] - upper[-1] * right
            inner = thomas(lower, diag.clone(), upper, rhs)
        j = int(round(1.0 / grid.ds)) - 1
        out.append(inner[j])
    return torch.stack(out)
