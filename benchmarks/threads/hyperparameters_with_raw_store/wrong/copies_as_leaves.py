import math
import torch


class ParamStore:
    def __init__(self):
        self.raw = {}

    def positive(self, name, value):
        self.raw[name] = torch.tensor(math.log(math.expm1(value)), requires_grad=True)

    def __getitem__(self, name):
        return torch.nn.functional.softplus(self.raw[name])


class GaussianProcess:
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.store = ParamStore()
        for name, value in dict(lengthscale=0.8, outputscale=1.0, noise=0.2).items():
            self.store.positive(name, value)

    @property
    def lengthscale(self):
        return self.store["lengthscale"]

    def kernel(self):
        d2 = (self.x[:, None] - self.x[None, :]).pow(2) / self.lengthscale ** 2
        return self.store["outputscale"] * torch.exp(-0.5 * d2) + self.store["noise"] * torch.eye(len(self.x))

    def nll(self):
        chol = torch.linalg.cholesky(self.kernel())
        alpha = torch.cholesky_solve(self.y[:, None], chol).squeeze(1)
        return 0.5 * self.y @ alpha + chol.diagonal().log().sum()


torch.manual_seed(220)
x = torch.linspace(-2, 2, 18)
gp = GaussianProcess(x, torch.sin(2 * x) + 0.1 * torch.randn(18))
optimizer = torch.optim.Adam([p.detach().requires_grad_() for p in (gp.lengthscale, gp.store["outputscale"], gp.store["noise"])], lr=0.05)
for i in range(6):
    optimizer.zero_grad()
    loss = gp.nll()
    loss.backward()
    optimizer.step()
print("nll %.6f lengthscale %.6f" % (loss.item(), gp.lengthscale.item()))
