import torch


def conjugate_gradient(f_Ax, b, n_steps, tol=1e-10):
    """solves A x = b, A given as a function"""
    x = torch.zeros_like(b)
    r = b.clone()
    p = r.clone()
    rdotr = r.dot(r)
    for _ in range(n_steps):
        Ap = f_Ax(p)
        alpha = rdotr / p.dot(Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = r.dot(r)
        if new < tol:
            break
        p = r + (new / rdotr) * p
        rdotr = new
    return x
