import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from pendulum import Pendulum


class RecurrentQ(nn.Module):
    def __init__(self, n_obs=3, n_act=3, hidden=64):
        super().__init__()
        self.fc = nn.Linear(n_obs, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_act)

    def forward(self, obs, h):
        x, h = self.gru(F.relu(self.fc(obs)), h)
        return self.out(x), h


class Trainer:
    def __init__(self, env, batch=16, length=20, gamma=0.98):
        self.env, self.batch, self.length, self.gamma = env, batch, length, gamma
        self.online, self.target = RecurrentQ(), RecurrentQ()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=5e-4)
        self.hidden = torch.zeros(1, batch, 64)
        self.episodes = []
        self.updates = 0

    def play(self, epsilon):
        state, done, episode, total = self.env.reset(), False, [], 0.0
        h = torch.zeros(1, 1, 64)
        while not done:
            with torch.no_grad():
                q, h = self.online(torch.as_tensor(state).view(1, 1, -1), h)
            action = random.randrange(3) if random.random() < epsilon else int(q.argmax())
            nxt, reward, done, _ = self.env.step(action)
            episode.append((state, action, reward, nxt, float(done)))
            state, total = nxt, total + reward
        self.episodes.append(episode)
        return total

    def sample(self):
        rows = []
        for _ in range(self.batch):
            episode = random.choice(self.episodes)
            start = random.randrange(len(episode) - self.length)
            rows.append(episode[start : start + self.length])
        columns = zip(*[zip(*row) for row in rows])
        return [torch.as_tensor(np.array(column)) for column in columns]

    def train_step(self):
        s, a, r, s2, d = self.sample()
        q, self.hidden = self.online(s, self.hidden)
        with torch.no_grad():
            q2, _ = self.target(s2, self.hidden)
        y = r.float() + self.gamma * q2.max(-1).values * (1 - d.float())
        loss = F.smooth_l1_loss(q.gather(-1, a.unsqueeze(-1)).squeeze(-1), y)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optimizer.step()
        self.updates += 1
        if self.updates % 20 == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()


if __name__ == "__main__":
    random.seed(6)
    torch.manual_seed(6)
    trainer = Trainer(Pendulum(horizon=800, discrete=True))
    for episode in range(500):
        total = trainer.play(max(0.05, 1.0 - episode / 200))
        if episode >= 4:
            loss = trainer.train_step()
            print(f"episode {episode} return {total:.1f} loss {loss:.4f}")
