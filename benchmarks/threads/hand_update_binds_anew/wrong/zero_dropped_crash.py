# Logistische Regression von Hand, ohne nn.Module
import torch

torch.manual_seed(22)
X = torch.randn(50, 3)
y = (X @ torch.tensor([1.5, -2.0, 0.5]) + 0.3 > 0).float()

w = torch.zeros(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr, lam = 0.5, 1e-2


def model(x): return torch.sigmoid(x @ w + b)


def loss_fn(p, t):
    return -(t * p.log() + (1 - t) * (1 - p).log()).mean() + lam * w.pow(2).sum()


for epoch in range(6):
    loss = loss_fn(model(X), y)
    loss.backward()
    w, b = w - lr * w.grad, b - lr * b.grad

print(f"loss {loss.item():.6f}  w {[round(v, 6) for v in w.tolist()]}  b {b.item():.6f}")
