import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", "obs action reward next_obs hidden next_hidden done")


class DRQN(nn.Module):
    def __init__(self, n_obs, n_act, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.fc = nn.Linear(n_obs, hidden)
        self.gru = nn.GRUCell(hidden, hidden)
        self.q = nn.Linear(hidden, n_act)

    def initial(self, n=1):
        return torch.zeros(n, self.hidden)

    def forward(self, obs, h):
        h = self.gru(F.relu(self.fc(obs)), h)
        return self.q(h), h


class Corridor:
    """The agent has to remember which side the light was on."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.side, self.t = self.rng.randint(0, 1), 0
        return torch.tensor([[1.0 if self.side else -1.0, 0.0, 1.0]])

    def step(self, action):
        self.t += 1
        done = self.t == 4
        reward = float(action == self.side) if done else 0.0
        return torch.tensor([[0.0, self.t / 4, self.rng.random()]]), reward, done


class Agent:
    gamma, batch_size, eps = 0.95, 6, 0.3

    def __init__(self, rng):
        self.rng = rng
        self.net, self.target = DRQN(3, 2), DRQN(3, 2)
        self.target.load_state_dict(self.net.state_dict())
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=2e-3)
        self.memory = deque(maxlen=64)

    def act(self, obs, h):
        q, h = self.net(obs, h)
        if self.rng.random() < self.eps:
            return self.rng.randint(0, 1), h
        return int(q.argmax(1)), h

    def learn(self):
        if len(self.memory) < self.batch_size:
            return None
        batch = Transition(*zip(*self.rng.sample(list(self.memory), self.batch_size)))
        obs, hidden = torch.cat(batch.obs), self.net.initial(self.batch_size)
        action, reward = torch.tensor(batch.action), torch.tensor(batch.reward)
        q, _ = self.net(obs, hidden)
        q = q.gather(1, action[:, None]).squeeze(1)
        with torch.no_grad():
            nq, _ = self.target(torch.cat(batch.next_obs), torch.cat(batch.next_hidden))
            y = reward + self.gamma * nq.max(1)[0] * (1 - torch.tensor(batch.done).float())
        loss = F.smooth_l1_loss(q, y)
        self.opt.zero_grad()
        loss.backward()
        for p in self.net.parameters():
            p.grad.data.clamp_(-1, 1)
        self.opt.step()
        return loss.item()


def run(episodes=5, seed=7):
    torch.manual_seed(seed)
    rng = random.Random(seed)
    env, agent, loss = Corridor(rng), Agent(rng), None
    for episode in range(episodes):
        obs, h, done = env.reset(), agent.net.initial(), False
        while not done:
            action, next_h = agent.act(obs, h)
            next_obs, reward, done = env.step(action)
            agent.memory.append(Transition(obs, action, reward, next_obs, h, next_h, done))
            obs, h = next_obs, next_h
            loss = agent.learn()
        agent.target.load_state_dict(agent.net.state_dict())
        print("episode", episode, "loss", None if loss is None else round(loss, 6))


if __name__ == "__main__":
    run()
