import torch
from torch import nn, optim


class Calibration(nn.Module):
    def __init__(self, p=5):
        super().__init__()
        self.lin = nn.Linear(p, 1)
        self.log_scale = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return torch.sinh(self.lin(x)) * self.log_scale.exp()


def fit(model, x, y, steps=3):
    optimizer = optim.LBFGS(model.parameters(), lr=0.3, max_iter=4)
    criterion = nn.MSELoss()
    for step in range(steps):
        pred = model(x)

        def closure():
            optimizer.zero_grad()
            loss = criterion(pred.detach().requires_grad_(), y.view(pred.shape))
            loss.backward()
            return loss

        value = optimizer.step(closure)
        print(f"step {step}: {value.item():.6f}")


torch.manual_seed(111369)
x = torch.rand(40, 5)
fit(Calibration(), x, x.sum(1) / 3 + 0.05 * torch.randn(40))
