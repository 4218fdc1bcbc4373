import torch
import torch.nn as nn
from torch.distributions import Categorical


class RecurrentActorCritic(nn.Module):
    def __init__(self, n_obs, n_act, hidden=16):
        super().__init__()
        self.rnn = nn.GRUCell(n_obs, hidden)
        self.pi, self.v = nn.Linear(hidden, n_act), nn.Linear(hidden, 1)

    def forward(self, obs, h):
        h = self.rnn(obs, h)
        return Categorical(logits=self.pi(h.detach().clone())), self.v(h.clone()).squeeze(-1), h


class VecEnv:
    """Eight copies of a game of remembering, which end at random."""

    def __init__(self, n=8, seed=0):
        self.n, self.g = n, torch.Generator().manual_seed(seed)
        self.secret = torch.randint(0, 2, (n,), generator=self.g)

    def observe(self):
        return torch.cat([torch.randn(self.n, 2, generator=self.g), self.secret[:, None].float() - 0.5], 1)

    def step(self, action):
        reward = (action == self.secret).float()
        done = torch.rand(self.n, generator=self.g) < 0.25
        fresh = torch.randint(0, 2, (self.n,), generator=self.g)
        self.secret = torch.where(done, fresh, self.secret)
        return self.observe(), reward, done


class A2C:
    def __init__(self, env, gamma=0.95, n_steps=5, ent=0.01, vf=0.5):
        self.env, self.gamma, self.n_steps, self.ent, self.vf = env, gamma, n_steps, ent, vf
        self.net = RecurrentActorCritic(3, 2)
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=3e-3, eps=1e-5)
        self.obs, self.h = env.observe(), torch.zeros(env.n, 16)

    def collect(self):
        logps, values, rewards, masks, ents = [], [], [], [], []
        h = self.h.detach()
        for _ in range(self.n_steps):
            dist, value, h = self.net(self.obs, h)
            action = dist.sample()
            self.obs, reward, done = self.env.step(action)
            h[done] = 0.            # a new game begins without memory
            logps.append(dist.log_prob(action)); values.append(value); ents.append(dist.entropy())
            rewards.append(reward); masks.append(1 - done.float())
        self.h = h
        with torch.no_grad():
            _, last, _ = self.net(self.obs, h)
        return map(torch.stack, (logps, values, rewards, masks, ents)), last

    def update(self):
        (logps, values, rewards, masks, ents), R = self.collect()
        returns = []
        for r, m in zip(reversed(rewards), reversed(masks)):
            R = r + self.gamma * R * m
            returns.insert(0, R)
        adv = torch.stack(returns) - values
        pi_loss = -(logps * adv.detach()).mean()
        loss = pi_loss + self.vf * adv.pow(2).mean() - self.ent * ents.mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.opt.step()
        return loss.item(), rewards.mean().item()


if __name__ == "__main__":
    torch.manual_seed(19)
    agent = A2C(VecEnv())
    for update in range(6):
        print("update %d loss %.6f reward %.4f" % (update, *agent.update()))
