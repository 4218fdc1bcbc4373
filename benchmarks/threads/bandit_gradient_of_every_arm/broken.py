import argparse
import numpy as np
import torch
import torch.nn as nn

# NeuralUCB, diagonal approximation of the design matrix

class NeuralUCBDiag:
    def __init__(self, dim, lamdba=1.0, nu=0.3, hidden=20, lr=0.02):
        self.func = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.opt = torch.optim.SGD(self.func.parameters(), lr=lr)
        self.lamdba, self.nu = lamdba, nu
        self.total_param = sum(p.numel() for p in self.func.parameters())
        self.U = lamdba * torch.ones(self.total_param)
        self.contexts, self.rewards = [], []

    def flat_grad(self):
        return torch.cat([p.grad.flatten() for p in self.func.parameters()])

    def select(self, context):
        mu = self.func(context).squeeze(-1)
        g_list, sampled = [], []
        for fx in mu:
            self.func.zero_grad()
            fx.backward()
            g = self.flat_grad()
            g_list.append(g)
            sigma = torch.sqrt(torch.sum(self.lamdba * g * g / self.U))
            sampled.append(fx.item() + self.nu * sigma.item())
        arm = int(np.argmax(sampled))
        self.U += g_list[arm] * g_list[arm]
        return arm, max(sampled)

    def train(self, context, reward):
        self.contexts.append(context)
        self.rewards.append(reward)
        x = torch.stack(self.contexts)
        y = torch.tensor(self.rewards)
        last = 0.0
        for _ in range(5):
            self.opt.zero_grad()
            loss = ((self.func(x).squeeze(-1) - y) ** 2).mean()
            loss.backward()
            self.opt.step()
            last = loss.item()
        return last


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--arms', type=int, default=5)
    ap.add_argument('--dim', type=int, default=6)
    ap.add_argument('--rounds', type=int, default=14)
    args = ap.parse_args()
    torch.manual_seed(0)
    np.random.seed(0)
    theta = torch.randn(args.dim)
    theta = theta / theta.norm()
    agent = NeuralUCBDiag(args.dim)
    regret = 0.0
    for t in range(args.rounds):
        ctx = torch.randn(args.arms, args.dim)
        h = torch.cos(2 * ctx @ theta)
        arm, ucb = agent.select(ctx)
        regret += float(h.max() - h[arm])
        loss = agent.train(ctx[arm], float(h[arm]) + 0.05 * np.random.randn())
        if t % 4 == 1:
            print(t, 'ucb %.5f regret %.4f loss %.5f' % (ucb, regret, loss))
    print('regret %.5f  logdet %.5f' % (regret, agent.U.log().sum().item()))
