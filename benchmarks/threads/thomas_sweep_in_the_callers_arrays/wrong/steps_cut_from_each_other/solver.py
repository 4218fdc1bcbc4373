import torch


def thomas(lower, diag, upper, rhs):
    """Solve a tridiagonal system, lower[0] and upper[-1] unused.

    diag and rhs are overwritten (as in the numpy version), hand in copies.
    """
    n = diag.shape[0]
    # forward sweep
    for i in range(1, n):
        m = lower[i] / diag[i - 1].clone()
        diag[i] -= m * upper[i - 1]
        rhs[i] -= m * rhs[i - 1].clone()
    # back substitution
    x = torch.empty_like(rhs)
    x[-1] = rhs[-1] / diag[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (rhs[i] - upper[i] * x[i + 1].clone()) / diag[i]
    return x
