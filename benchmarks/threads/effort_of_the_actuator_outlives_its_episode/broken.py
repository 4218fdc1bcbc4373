import torch
from torch import nn


class Plant:
    """A cart on a line that must be brought to zero."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def reset(self):
        self.pos = torch.rand(1, generator=self.gen) * 4 - 2
        self.vel = torch.zeros(1)
        return torch.cat([self.pos, self.vel])

    def step(self, force):
        self.vel = self.vel + 0.3 * force
        self.pos = self.pos + 0.3 * self.vel
        return torch.cat([self.pos, self.vel])


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
        self.effort = torch.zeros(1)

    def act(self, obs):
        # a tired actuator answers less
        force = self.net(torch.cat([obs, self.effort])) / (1 + self.effort)
        self.effort = 0.8 * self.effort + force.abs()
        return force


def main():
    torch.manual_seed(0)
    plant, agent = Plant(1), Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
    for episode in range(8):
        obs = plant.reset()
        cost = 0
        for t in range(6):
            force = agent.act(obs)
            obs = plant.step(force)
            cost = cost + obs.square().sum() + 0.01 * force.square().sum()
        optimizer.zero_grad()
        cost.backward()
        optimizer.step()
        print(episode, round(cost.item(), 4))


main()
