import argparse
import math
import torch
import torch.nn as nn

# 1D reaction-diffusion with a steep front:  -eps u'' + u = f on (0, 1),  u(0) = u(1) = 0
# RAR: every few steps the candidates with the largest residual join the collocation points (Lu et al., DeepXDE)


class Net(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return x * (1 - x) * self.body(x)       # hard boundary conditions


class Solver:
    def __init__(self, eps, n_init, lr):
        self.eps = eps
        self.net = Net()
        self.x = torch.rand(n_init, 1)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.picked = []

    def source(self, x):
        return 1.0 / (1.0 + torch.exp(-(x - 0.6) / 0.02))

    def residual(self, x):
        x = x.requires_grad_(True)
        u = self.net(x)
        du = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
        d2u = torch.autograd.grad(du.sum(), x, create_graph=True)[0]
        return -self.eps * d2u + u - self.source(x)

    @torch.no_grad()
    def refine(self, n_cand, n_add):
        cand = torch.rand(n_cand, 1)
        res = (self.net(cand) - self.source(cand)).abs().squeeze(1)
        top = res.topk(n_add).indices
        self.picked.append(cand[top].mean().item())
        self.x = torch.cat([self.x, cand[top]])
        return res.mean().item()

    def fit(self, steps, every, n_cand=64, n_add=4):
        for k in range(1, steps + 1):
            self.opt.zero_grad()
            loss = (self.residual(self.x) ** 2).mean()
            loss.backward()
            self.opt.step()
            if k % every == 0:
                mean_res = self.refine(n_cand, n_add)
                print('step %d loss %.6f  |r| on candidates %.6f  points %d' % (k, loss.item(), mean_res, len(self.x)))
        return loss.item()


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--eps', type=float, default=0.01)
    ap.add_argument('--steps', type=int, default=16)
    ap.add_argument('--every', type=int, default=4)
    ap.add_argument('--lr', type=float, default=0.01)
    arg = ap.parse_args()
    torch.manual_seed(0)
    s = Solver(arg.eps, 20, arg.lr)
    last = s.fit(arg.steps, arg.every)
    print('loss %.6f log10 %.6f' % (last, math.log10(last)))
    print('picked', ' '.join('%.5f' % p for p in s.picked))
