import torch

from net import MLP
from objective import build_objective


def run(epochs=3, lr=0.05):
    torch.manual_seed(7951)
    model = MLP([5, 10, 10, 1])
    objective = build_objective(model, strength=0.02)
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    x = torch.randn(48, 5)
    y = (x[:, :1] * x[:, 1:2]).sin()
    for epoch in range(epochs):
        for xb, yb in zip(x.split(16), y.split(16)):
            opt.zero_grad()
            loss, fit = objective(xb, yb)
            loss.backward()
            opt.step()
        print(epoch, f"{loss.item():.6f} {fit.item():.6f}")


if __name__ == "__main__":
    run()
