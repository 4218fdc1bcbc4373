# House price style regression; RMSE + penalties, learning rate is lowered when the *RMSE* stops to improve
import torch
import torch.nn as nn


class RMSELoss(nn.Module):
    def __init__(self, l1=0.02, smooth=0.05, eps=1e-8):
        super(RMSELoss, self).__init__()
        self.l1 = l1
        self.smooth = smooth
        self.eps = eps

    def forward(self, pred, target, model):
        rmse = torch.sqrt(torch.mean((pred - target) ** 2) + self.eps)
        loss = rmse
        loss += self.l1 * sum(p.abs().sum() for p in model.parameters())
        loss += self.smooth * (pred[1:] - pred[:-1]).abs().mean()
        return loss, rmse


class Regressor(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


class Plateau:
    """halves the learning rate if the metric did not get better by `delta`"""

    def __init__(self, opt, delta):
        self.opt, self.delta, self.best = opt, delta, float('inf')

    def step(self, metric):
        if metric > self.best - self.delta:
            for g in self.opt.param_groups:
                g['lr'] *= 0.5
        self.best = min(self.best, metric)


def fit():
    torch.manual_seed(8)
    x = torch.randn(96, 7)
    y = x[:, 0] * 2 - x[:, 1] + 0.3 * x[:, 2] * x[:, 3] + 0.1 * torch.randn(96)
    model = Regressor(7)
    criterion = RMSELoss()
    opt = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9)
    plateau = Plateau(opt, delta=0.05)
    for epoch in range(14):
        loss, rmse = criterion(model(x), y, model)
        opt.zero_grad()
        loss.backward()
        opt.step()
        plateau.step(rmse.item())
        if epoch % 4 == 0:
            print('epoch %d  loss %.5f  rmse %.5f  lr %.6f' % (epoch, loss.item(), rmse.item(), opt.param_groups[0]['lr']))
    return rmse.item(), opt.param_groups[0]['lr']


if __name__ == '__main__':
    print('final rmse %.6f lr %.7f' % fit())
