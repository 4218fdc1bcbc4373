import torch


class Agent:
    """Online: encode once per control tick, plan, act, learn from what happened."""

    def __init__(self, model, planner, env, lr=3e-3):
        self.model, self.planner, self.env = model, planner, env
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.obs = env.reset()

    def tick(self):
        z = self.model.encode(self.obs)
        action = self.planner.plan(self.model, z)
        next_obs, cost = self.env.step(action)

        loss, parts = self.model.loss(z, action, next_obs, cost)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

        self.obs = next_obs
        return cost.item(), parts

    def episode(self, length):
        self.obs = self.env.reset()
        self.planner.reset()
        paid, cons = 0.0, 0.0
        for _ in range(length):
            cost, parts = self.tick()
            paid += cost
            cons += parts["consistency"]
        return paid / length, cons / length
