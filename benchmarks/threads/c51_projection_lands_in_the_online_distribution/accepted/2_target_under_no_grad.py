# Categorical DQN (C51) on a small chain world.
# Ported from my Keras version: predict() gives z for all actions, the row of the played action is replaced,
# fit() then sees the network's own prediction for the actions that were not played (no error signal there).
import random
from collections import deque

import numpy as np
import torch
from torch import nn, optim

N_STATES, N_ACTIONS, N_ATOMS = 7, 2, 11
V_MIN, V_MAX = -1.0, 2.0
GAMMA = 0.9


class ChainEnv:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)
        self.s = 0

    def obs(self):
        o = np.zeros(N_STATES, dtype=np.float32)
        o[self.s] = 1.0
        return o

    def reset(self):
        self.s, self.t = N_STATES // 2, 0
        return self.obs()

    def step(self, a):
        self.t += 1
        move = 1 if a == 1 else -1
        if self.rng.rand() < 0.1:
            move = -move
        self.s = min(max(self.s + move, 0), N_STATES - 1)
        r = 1.0 if self.s == N_STATES - 1 else (-0.2 if self.s == 0 else 0.0)
        return self.obs(), r, self.s in (0, N_STATES - 1) or self.t >= 20


class DistNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(N_STATES, 32), nn.Tanh(), nn.Linear(32, N_ACTIONS * N_ATOMS))

    def forward(self, s):
        return self.body(s).view(-1, N_ACTIONS, N_ATOMS).softmax(dim=-1)


class C51Agent:
    def __init__(self):
        self.model = DistNet()
        self.target_model = DistNet()
        self.sync()
        self.optimizer = optim.Adam(self.model.parameters(), lr=3e-3)
        self.memory = deque(maxlen=500)
        self.support = torch.linspace(V_MIN, V_MAX, N_ATOMS)
        self.delta = (V_MAX - V_MIN) / (N_ATOMS - 1)
        self.eps = 1.0

    def sync(self):
        self.target_model.load_state_dict(self.model.state_dict())

    @torch.no_grad()
    def act(self, obs):
        if random.random() < self.eps:
            return random.randrange(N_ACTIONS)
        z = self.model(torch.from_numpy(obs)[None])
        return int((z * self.support).sum(-1).argmax(1))

    @torch.no_grad()
    def project(self, next_states, rewards, dones):
        z_next = self.target_model(next_states)
        best = (z_next * self.support).sum(-1).argmax(1)
        p = z_next[torch.arange(len(best)), best]
        tz = (rewards[:, None] + GAMMA * (1 - dones[:, None]) * self.support).clamp(V_MIN, V_MAX)
        b = ((tz - V_MIN) / self.delta).clamp(0, N_ATOMS - 1)
        lo, up = b.floor().long(), b.ceil().long()
        m = torch.zeros_like(p)
        m.scatter_add_(1, lo, p * (up.float() - b + (lo == up).float()))
        m.scatter_add_(1, up, p * (b - lo.float()))
        return m

    def replay(self, batch_size):
        batch = random.sample(self.memory, batch_size)
        s, a, r, s2, d = (torch.as_tensor(np.array(x)) for x in zip(*batch))
        m = self.project(s2, r.float(), d.float())

        z = self.model(s)
        with torch.no_grad():
            target = z.clone()
            target[torch.arange(batch_size), a] = m

        loss = -(target * (z + 1e-8).log()).sum(dim=(1, 2)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    random.seed(3)
    torch.manual_seed(3)
    env, agent = ChainEnv(3), C51Agent()
    updates = 0
    for episode in range(12):
        obs, done, score, losses = env.reset(), False, 0.0, []
        while not done:
            # 行動は一様乱数のみ（デバッグ用）
            action = agent.act(obs)
            obs2, reward, done = env.step(action)
            agent.memory.append((obs, action, reward, obs2, done))
            obs, score = obs2, score + reward
            if len(agent.memory) >= 24 and len(agent.memory) % 4 == 0:
                losses.append(agent.replay(16))
                updates += 1
                if updates % 5 == 0:
                    agent.sync()
        if losses:
            print("episode %2d  score %+.2f  loss %.6f" % (episode, score, sum(losses) / len(losses)))
    print("updates %d  weights %.6f" % (updates, sum(p.norm().item() for p in agent.model.parameters())))
