import torch, torch.nn as nn

torch.manual_seed(8)
M, LAMBDA = 4, 0.6
x = torch.rand(96, 3) * 4 - 2
y = (x[:, :1].sin() + 0.5 * x[:, 1:2] * x[:, 2:]) + 0.1 * torch.randn(96, 1)
xv = torch.rand(48, 3) * 4 - 2
yv = xv[:, :1].sin() + 0.5 * xv[:, 1:2] * xv[:, 2:]


class Member(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x): return self.f(x)


class Ensemble:
    def __init__(self):
        self.members = [Member(8 + 4 * i) for i in range(M)]
        self.optimizers = [torch.optim.SGD(m.parameters(), lr=0.05, momentum=0.5) for m in self.members]

    def predict(self, x): return [m(x) for m in self.members]

    def train_step(self, x, y):
        outputs = self.predict(x)
        mean = sum(outputs) / M
        logged = []
        for out, opt in zip(outputs, self.optimizers):
            accuracy = ((out - y) ** 2).mean()
            diversity = ((out - (mean.detach() + (out - out.detach()) / M)) ** 2).mean()
            loss = accuracy - LAMBDA * diversity
            opt.zero_grad()
            loss.backward()
            opt.step()
            logged.append((accuracy.item(), diversity.item()))
        return logged


ensemble = Ensemble()
for epoch in range(4):
    for i in range(0, 96, 24): logged = ensemble.train_step(x[i:i + 24], y[i:i + 24])
    with torch.no_grad(): val = ((sum(ensemble.predict(xv)) / M - yv) ** 2).mean().item()
    print("epoch", epoch, "val %.6f" % val, " ".join("%.6f/%.6f" % pair for pair in logged))
