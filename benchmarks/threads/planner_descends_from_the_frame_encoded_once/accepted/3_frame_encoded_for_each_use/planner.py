import torch


class GradientPlanner:
    """Plan der naechsten H Aktionen durch Gradientenabstieg im gelernten Modell (warm gestartet)."""

    def __init__(self, act_dim, horizon=4, iters=3, lr=0.3, effort=1e-2):
        self.horizon, self.iters, self.lr, self.effort = horizon, iters, lr, effort
        self.plan_mean = torch.zeros(horizon, act_dim)

    def reset(self):
        self.plan_mean = torch.zeros_like(self.plan_mean)

    def rollout_cost(self, model, z, actions):
        total = 0.0
        for a in actions:
            z = model.next(z, a)
            total = total + model.cost(z) + self.effort * (a ** 2).sum()
        return total

    def plan(self, model, z):
        actions = torch.cat([self.plan_mean[1:], torch.zeros(1, self.plan_mean.shape[1])])
        actions.requires_grad_(True)
        optimizer = torch.optim.Adam([actions], lr=self.lr)
        for _ in range(self.iters):
            cost = self.rollout_cost(model, z, actions)
            optimizer.zero_grad()
            cost.backward()
            optimizer.step()
        self.plan_mean = actions.detach()
        return self.plan_mean[0]
