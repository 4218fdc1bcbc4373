import torch
import torch.nn as nn


class ODEFunc(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.space, self.time = nn.Linear(dim, 14), nn.Linear(1, 14)
        self.out = nn.Linear(14, dim)

    def forward(self, t, x):
        return self.out(torch.tanh(self.space(x) + self.time(t.view(1, 1))))


def integrate(func, x0, ts):
    x = x0.clone()
    kinetic = 0.
    for t0, t1 in zip(ts[:-1], ts[1:]):
        last = x
        x = last = x + (t1 - t0) * func(t0, x)
        kinetic = kinetic + ((x - last) / (t1 - t0)).pow(2).mean()
    return x, kinetic


def main():
    torch.manual_seed(72)
    func = ODEFunc(3)
    enc, dec = nn.Linear(2, 3), nn.Linear(3, 1)
    optimizer = torch.optim.Adam([p for m in (func, enc, dec) for p in m.parameters()], lr=1e-2)
    ts = torch.linspace(0, 1, 5)
    for itr in range(6):
        optimizer.zero_grad()
        batch = torch.randn(20, 2)
        x1, kinetic = integrate(func, enc(batch), ts)
        loss = (dec(x1).squeeze(1) - batch.prod(1)).pow(2).mean() + 0.05 * kinetic
        loss.backward()
        optimizer.step()
        if itr % 5 == 0:
            print("Iter {:02d} | loss {:.6f} | kinetic {:.6f}".format(itr, loss.item(), float(kinetic)))


if __name__ == "__main__":
    main()
