"""Denoiser with a learned energy: z* = argmin_z 0.5|z - x|^2 + sum softplus(z A^T + b), gradients by the implicit function theorem."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def energy(z, x, A, b):
    return 0.5 * ((z - x) ** 2).sum() + F.softplus(z @ A.t() + b).sum()


class Prox(torch.autograd.Function):
    STEPS = 60
    RATE = 0.5

    @staticmethod
    def forward(ctx, x, A, b):
        z = x.clone()
        for _ in range(Prox.STEPS):
            z = z.detach().requires_grad_()
            g, = torch.autograd.grad(energy(z, x, A, b), z)
            z = z - Prox.RATE * g
        z = z.detach()
        ctx.save_for_backward(z, x, A, b)
        return z

    @staticmethod
    def backward(ctx, grad_out):
        z, x, A, b = ctx.saved_tensors
        with torch.enable_grad():
            z, x, A, b = (t.detach().requires_grad_() for t in (z, x, A, b))
            residual, = torch.autograd.grad(energy(z, x, A, b), z, create_graph=True)
            # solve H v = grad_out by the same iteration
            v = grad_out.clone()
            for _ in range(Prox.STEPS):
                hv, = torch.autograd.grad(residual, z, v, retain_graph=True)
                v = v - Prox.RATE * (hv - grad_out)
            gx, gA, gb = torch.autograd.grad(residual, (x, A, b), -v)
        return gx, gA, gb


class Denoiser(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.pre = nn.Linear(d, d)
        self.A = nn.Parameter(0.4 * torch.randn(k, d) / d ** 0.5)
        self.b = nn.Parameter(torch.zeros(k))

    def forward(self, x):
        x = x + 0.1 * self.pre(x)
        return Prox.apply(x, self.A, self.b)


def main():
    torch.manual_seed(14)
    model = Denoiser(8, 5)
    opt = torch.optim.Adam(model.parameters(), lr=2e-2)
    for it in range(8):
        clean = torch.randn(20, 8).clamp(max=0.3)
        noisy = clean + 0.3 * torch.randn(20, 8)
        loss = ((model(noisy) - clean) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 2 == 1:
            print(it, '%.6f' % loss.item(), '%.6f' % model.A.norm().item())


if __name__ == '__main__':
    main()
