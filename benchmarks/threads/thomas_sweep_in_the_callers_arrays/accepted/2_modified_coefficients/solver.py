import torch


def thomas(lower, diag, upper, rhs):
    """Solve a tridiagonal system, lower[0] and upper[-1] unused.

    diag and rhs are overwritten (as in the numpy version), hand in copies.
    """
    n = diag.shape[0]
    c, d = [upper[0] / diag[0]], [rhs[0] / diag[0]]
    for i in range(1, n):
        den = diag[i] - lower[i] * c[-1]
        c.append(upper[i] / den)
        d.append((rhs[i] - lower[i] * d[-1]) / den)
    x = d[-1]
    xs = [x]
    for i in range(n - 2, -1, -1):
        x = d[i] - c[i] * x
        xs.append(x)
    return torch.stack(xs[::-1])
