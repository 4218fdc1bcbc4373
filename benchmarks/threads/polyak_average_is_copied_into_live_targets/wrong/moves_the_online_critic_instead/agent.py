import torch
import torch.nn.functional as F

from networks import Policy, TwinQ
from utils import hard_update, soft_update, to_tensor


class DiscreteSAC:
    def __init__(self, obs_dim, n_actions, cfg):
        self.gamma, self.tau, self.alpha = cfg["gamma"], cfg["tau"], cfg["alpha"]
        self.policy = Policy(obs_dim, n_actions, cfg["hidden"])
        self.critic = TwinQ(obs_dim, n_actions, cfg["hidden"])
        self.critic_target = TwinQ(obs_dim, n_actions, cfg["hidden"])
        hard_update(self.critic_target, self.critic)
        self.policy_opt = torch.optim.Adam(self.policy.parameters(), lr=cfg["lr"])
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=cfg["lr"])

    @torch.no_grad()
    def act(self, obs):
        probs, _ = self.policy(to_tensor(obs)[None])
        return int(torch.multinomial(probs, 1))

    def update(self, batch):
        obs, action, reward, nxt, done = map(to_tensor, batch)
        action = action.long().unsqueeze(1)

        with torch.no_grad():
            probs, log_probs = self.policy(nxt)
            q1, q2 = self.critic_target(nxt)
            v = (probs * (torch.min(q1, q2) - self.alpha * log_probs)).sum(1)
            target = reward + self.gamma * (1 - done) * v

        q1, q2 = self.critic(obs)
        q_loss = F.mse_loss(q1.gather(1, action).squeeze(1), target) + F.mse_loss(q2.gather(1, action).squeeze(1), target)
        self.critic_opt.zero_grad()
        q_loss.backward()
        self.critic_opt.step()

        probs, log_probs = self.policy(obs)
        with torch.no_grad():
            q = torch.min(*self.critic(obs))
        pi_loss = (probs * (self.alpha * log_probs - q)).sum(1).mean()
        self.policy_opt.zero_grad()
        pi_loss.backward()
        self.policy_opt.step()

        soft_update(self.critic_target, self.critic, self.tau)
        return q_loss.item(), pi_loss.item()
