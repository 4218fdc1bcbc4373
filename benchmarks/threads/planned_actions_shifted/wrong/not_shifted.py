import torch
import torch.nn as nn


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))

    def forward(self, s, a):
        return s + 0.2 * self.net(torch.cat([s, a], -1))


class GradientMPC:
    """Shooting by gradient descent; the plan is shifted by one step and used as a warm start."""

    def __init__(self, model, horizon=5, iters=3, lr=0.1):
        self.model, self.horizon, self.iters, self.lr = model, horizon, iters, lr
        self.actions = torch.zeros(horizon, 1, requires_grad=True)

    def cost(self, s):
        total = 0
        for a in self.actions:
            s = self.model(s, a)
            total = total + s.pow(2).sum() + 0.1 * a.pow(2).sum()
        return total

    def plan(self, s):
        optimizer = torch.optim.Adam([self.actions], lr=self.lr)
        for _ in range(self.iters):
            optimizer.zero_grad()
            cost = self.cost(s)
            cost.backward()
            optimizer.step()
        first = self.actions[0].detach().clone()
        self.actions = self.actions.detach().clone().requires_grad_()
        return first, cost.item()


def main():
    torch.manual_seed(51)
    model = Dynamics()
    for p in model.parameters():
        p.requires_grad_(False)
    mpc, state = GradientMPC(model), torch.tensor([1.0, -0.5, 0.2])
    for t in range(5):
        action, cost = mpc.plan(state)
        state = model(state, action) + 0.01 * torch.randn(3)
        print("t %d action %.6f cost %.6f" % (t, action.item(), cost))
    print("final %.6f" % state.norm().item())


if __name__ == "__main__":
    main()
