import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from pendulum import Pendulum


class Dynamics(nn.Module):
    """Predicts the change of the state, and the reward."""

    def __init__(self, obs=3, act=1, hidden=128):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs + act, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.delta, self.reward = nn.Linear(hidden, obs), nn.Linear(hidden, 1)

    def forward(self, state, action):
        x = self.trunk(torch.cat([state, action], dim=-1))
        return torch.tanh(self.delta(x)), self.reward(x)


class Policy(nn.Module):
    def __init__(self, obs=3, act=1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, 64), nn.Tanh(), nn.Linear(64, act), nn.Tanh())

    def forward(self, state):
        return 2.0 * self.net(state)


class Learner:
    def __init__(self, env):
        self.env = env
        self.model, self.policy = Dynamics(), Policy()
        self.model_opt = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=3e-4)
        self.data = []

    @torch.no_grad()
    def plan(self, state, horizon=6, candidates=32):
        """Random shooting around the policy's own action."""
        states = torch.as_tensor(state).expand(candidates, -1)
        total, first = torch.zeros(candidates), None
        for _ in range(horizon):
            actions = (self.policy(states) + 0.5 * torch.randn(candidates, 1)).clamp(-2, 2)
            first = actions if first is None else first
            delta, reward = self.model(states, actions)
            states, total = states + delta, total + reward.squeeze(-1)
        return first[total.argmax()].numpy()

    def collect(self, random=False):
        state, done, total = self.env.reset(), False, 0.0
        while not done:
            action = self.env.sample() if random else self.plan(state)
            nxt, reward, done, _ = self.env.step(action)
            self.data.append((state, action, nxt - state, [reward]))
            state, total = nxt, total + reward
        return total

    def batch(self, size=128):
        rows = [self.data[i] for i in np.random.randint(len(self.data), size=size)]
        return [torch.as_tensor(np.array(c), dtype=torch.float32) for c in zip(*rows)]

    def fit_model(self, steps=30):
        for _ in range(steps):
            state, action, change, reward = self.batch()
            delta, predicted = self.model(state, action)
            loss = F.mse_loss(delta, change) + 0.01 * F.mse_loss(predicted, reward)
            self.model_opt.zero_grad()
            loss.backward()
            self.model_opt.step()
        return loss.item()

    def imagine(self, horizon=10, gamma=0.98):
        state = self.batch()[0]
        value = 0.0
        for t in range(horizon):
            action = self.policy(state)
            delta, reward = self.model(state, action)
            state += delta
            value = value + gamma**t * reward.mean()
        self.policy_opt.zero_grad()
        (-value).backward()
        self.policy_opt.step()
        return value.item()


if __name__ == "__main__":
    torch.manual_seed(8)
    np.random.seed(8)
    learner = Learner(Pendulum())
    for _ in range(3):
        learner.collect(random=True)
    for epoch in range(200):
        total = learner.collect()
        loss = learner.fit_model()
        value = learner.imagine()
        print(f"epoch {epoch}: return {total:.1f} model {loss:.4f} imagined {value:.3f}")
