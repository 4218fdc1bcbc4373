"""Implicit (equilibrium) layer with a hand-written backward; two heads: labels and reconstruction."""
import torch
from torch import nn
from torch.nn import functional as F


class FixedPoint(torch.autograd.Function):
    """z* = tanh(z* W + x U + b), gradients by the implicit function theorem."""

    @staticmethod
    def forward(ctx, x, W, U, b, n_iter):
        with torch.no_grad():
            z = torch.zeros(x.shape[0], W.shape[0])
            for _ in range(n_iter):
                z = torch.tanh(z @ W + x @ U + b)
        with torch.enable_grad():
            args = [t.detach().requires_grad_() for t in (z, x, W, U, b)]
            f = torch.tanh(args[0] @ args[2] + args[1] @ args[3] + args[4])
        ctx.inner = f, args
        ctx.n_iter = n_iter
        return z.clone()

    @staticmethod
    def backward(ctx, grad):
        z, x, W, U, b = ctx.inner[1]
        with torch.enable_grad():
            f = torch.tanh(z @ W + x @ U + b)
        g = grad
        for _ in range(ctx.n_iter):
            g = grad + torch.autograd.grad(f, z, g, retain_graph=True)[0]
        gx, gW, gU, gb = torch.autograd.grad(f, (x, W, U, b), g)
        return gx, gW, gU, gb, None


class ImplicitLayer(nn.Module):
    def __init__(self, d_in, d_hid, n_iter=20):
        super().__init__()
        self.W = nn.Parameter(0.3 * torch.randn(d_hid, d_hid) / d_hid ** 0.5)
        self.U = nn.Parameter(torch.randn(d_in, d_hid) / d_in ** 0.5)
        self.b = nn.Parameter(torch.zeros(d_hid))
        self.n_iter = n_iter

    def forward(self, x):
        return FixedPoint.apply(x, self.W, self.U, self.b, self.n_iter)


class TwoHeads(nn.Module):
    def __init__(self, d_in=10, d_hid=16, n_classes=3):
        super().__init__()
        self.stem = nn.Linear(d_in, d_in)
        self.implicit = ImplicitLayer(d_in, d_hid)
        self.label = nn.Linear(d_hid, n_classes)
        self.recon = nn.Linear(d_hid, d_in)

    def forward(self, x):
        z = self.implicit(F.relu(self.stem(x)))
        return {"label": self.label(z), "recon": self.recon(z)}


class Trainer:
    weights = {"label": 1.0, "recon": 0.3}

    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=5e-3)
        self.sched = torch.optim.lr_scheduler.StepLR(self.opt, 5, 0.5)

    def step(self, x, y):
        out = self.model(x)
        losses = {
            "label": F.cross_entropy(out["label"], y),
            "recon": F.mse_loss(out["recon"], x),
        }
        self.opt.zero_grad()
        for name, loss in losses.items():
            (self.weights[name] * loss).backward(retain_graph=True)
        self.opt.step()
        self.sched.step()
        return {k: v.item() for k, v in losses.items()}


def spectral_norm(W):
    return torch.linalg.matrix_norm(W.detach(), 2).item()


if __name__ == "__main__":
    torch.manual_seed(0)
    means = torch.randn(3, 10)
    model = TwoHeads()
    trainer = Trainer(model)
    for i in range(10):
        y = torch.randint(0, 3, (32,))
        x = means[y] + 0.5 * torch.randn(32, 10)
        log = trainer.step(x, y)
        if i % 2 == 1:
            print(i, " ".join("%s %.6f" % kv for kv in log.items()), "|W| %.5f" % spectral_norm(model.implicit.W))
