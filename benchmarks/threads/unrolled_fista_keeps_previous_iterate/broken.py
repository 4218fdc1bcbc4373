import math
import torch
from torch import nn

torch.manual_seed(42)


def conv_matrix(kernel, n):
    A = torch.zeros(n, n)
    for i in range(n):
        for j, v in enumerate(kernel):
            A[i, (i + j - len(kernel) // 2) % n] = v
    return A


class UnrolledFISTA(nn.Module):
    """ min_z 1/2 |A D z - y|^2 + lam |z|_1, fixed number of iterations, everything except A learned.

    layer k:  z_k = prox(y_k - alpha_k * grad f(y_k)),   y_{k+1} = z_k + beta_k * (z_k - z_{k-1})
    """

    def __init__(self, A, n_atoms, n_iter=6, learn_tk=True):
        super().__init__()
        self.register_buffer("A", A)
        n = A.shape[1]
        self.D = nn.Parameter(torch.randn(n, n_atoms) / math.sqrt(n))
        with torch.no_grad():
            L = torch.linalg.matrix_norm(A @ self.D, 2) ** 2
        self.log_alpha = nn.Parameter(torch.full((n_iter,), math.log(0.9 / L.item())))
        self.log_lam = nn.Parameter(torch.full((n_iter,), math.log(0.05)))
        t, tk = 1.0, []
        for _ in range(n_iter):
            t_new = (1 + math.sqrt(1 + 4 * t * t)) / 2
            tk.append((t - 1) / t_new)
            t = t_new
        self.beta = nn.Parameter(torch.tensor(tk), requires_grad=learn_tk)
        self.n_iter = n_iter

    def grad(self, z, y):
        AD = self.A @ self.D
        return (z @ AD.t() - y) @ AD

    @staticmethod
    def soft(u, thr):
        return torch.sign(u) * torch.relu(u.abs() - thr)

    def forward(self, y):
        z = self.soft(y @ (self.A @ self.D), self.log_lam[0].exp())
        v = z
        for k in range(self.n_iter):
            z_prev = z
            alpha = self.log_alpha[k].exp()
            step = self.soft(v - alpha * self.grad(v, y), alpha * self.log_lam[k].exp()) - z
            z += step
            v = z + self.beta[k] * (z - z_prev)
        return v @ self.D.t(), v


def sparse_signals(n_sig, n):
    x = torch.zeros(n_sig, n)
    for row in x:
        row[torch.randperm(n)[:3]] = torch.randn(3)
    return torch.cumsum(x, 1) / 2


def psnr(a, b):
    return (10 * torch.log10(b.abs().max() ** 2 / ((a - b) ** 2).mean())).item()


if __name__ == "__main__":
    n = 24
    A = conv_matrix([0.1, 0.2, 0.4, 0.2, 0.1], n)
    net = UnrolledFISTA(A, n_atoms=36)
    opt = torch.optim.Adam([
        {"params": [net.D], "lr": 5e-3},
        {"params": [net.log_alpha, net.log_lam], "lr": 2e-2},
        {"params": [net.beta], "lr": 1e-2},
    ])
    x_val = sparse_signals(16, n)
    y_val = x_val @ A.t() + 0.02 * torch.randn(16, n)
    for it in range(9):
        x = sparse_signals(16, n)
        y = x @ A.t() + 0.02 * torch.randn(16, n)
        x_hat, code = net(y)
        loss = ((x_hat - x) ** 2).mean() + 1e-3 * code.abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 2 == 0:
            with torch.no_grad():
                rec, c = net(y_val)
            print(f"{it:3d}  loss {loss.item():.6f}  val psnr {psnr(rec, x_val):.4f}  nnz {(c.abs() > 1e-4).float().mean().item():.4f}"
                  f"  beta {net.beta[2].item():.5f}")
