import torch
import torch.nn as nn
from torch.distributions import Categorical


class PolicyNetwork(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_obs, 16), nn.Tanh(), nn.Linear(16, n_act))

    def forward(self, obs):
        return Categorical(logits=self.body(obs))


class PPO:
    def __init__(self, n_obs=4, n_act=3, eps=0.2, lr=3e-2, epochs=3):
        self.policy = PolicyNetwork(n_obs, n_act)
        self.eps, self.epochs = eps, epochs
        self.optim = torch.optim.Adam(self.policy.parameters(), lr=lr)

    def clipped_surrogate(self, new_logp, old_logp, adv):
        ratio = torch.exp(new_logp - old_logp)
        surr1 = ratio.clone().mul_(adv)
        surr2 = torch.clamp(ratio, 1 - self.eps, 1 + self.eps) * adv
        return torch.min(surr1, surr2).mean()

    def update(self, obs, act, adv):
        with torch.no_grad():
            old_logp = self.policy(obs).log_prob(act)
        for _ in range(self.epochs):
            dist = self.policy(obs)
            objective = self.clipped_surrogate(dist.log_prob(act), old_logp, adv)
            loss = -(objective + 0.01 * dist.entropy().mean())
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
        return loss.item()


torch.manual_seed(191)
agent = PPO()
for iteration in range(3):
    obs = torch.randn(32, 4)
    act = torch.randint(0, 3, (32,))
    adv = torch.where(act == obs[:, :3].argmax(1), 1.0, -0.5) + 0.1 * torch.randn(32)
    print(iteration, f"{agent.update(obs, act, adv):.6f}")
