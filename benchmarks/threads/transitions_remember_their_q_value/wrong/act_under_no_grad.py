"""Q-learning with linear function approximation and a small replay memory."""
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", "state action reward next_state done q_value")

GAMMA = 0.9
BATCH = 6


class MountainLine:
    """A point on [0, 1]; pushing it to the right end ends the episode."""

    def reset(self):
        self.x, self.v, self.t = 0.4, 0.0, 0
        return self.features()

    def features(self):
        centers = np.linspace(0, 1, 5)
        rbf = np.exp(-((self.x - centers) ** 2) / 0.05)
        return torch.tensor(np.append(rbf, self.v), dtype=torch.float32)

    def step(self, action):
        self.v = 0.7 * self.v + (0.1 if action == 1 else -0.1)
        self.x = min(max(self.x + self.v, 0.0), 1.0)
        self.t += 1
        done = self.x >= 1.0 or self.t >= 12
        return self.features(), (1.0 if self.x >= 1.0 else -0.1), done


class Agent:
    def __init__(self, n_features, n_actions):
        self.q_net = nn.Linear(n_features, n_actions)
        self.optimizer = torch.optim.SGD(self.q_net.parameters(), lr=0.1)
        self.memory = deque(maxlen=50)
        self.epsilon = 0.3

    def act(self, state):
        with torch.no_grad():
            q_values = self.q_net(state)
        if random.random() < self.epsilon:
            action = random.randrange(2)
        else:
            action = int(q_values.argmax())
        return action, q_values[action]

    def remember(self, *args):
        self.memory.append(Transition(*args))

    def learn(self):
        if len(self.memory) < BATCH:
            return None
        batch = Transition(*zip(*random.sample(list(self.memory), BATCH)))
        rewards = torch.tensor(batch.reward)
        not_done = 1.0 - torch.tensor(batch.done, dtype=torch.float32)
        next_q = self.q_net(torch.stack(batch.next_state)).max(dim=1).values

        q = torch.stack(batch.q_value)
        target = rewards + GAMMA * not_done * next_q
        loss = F.mse_loss(q, target)

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    random.seed(5)
    torch.manual_seed(5)
    env = MountainLine()
    agent = Agent(6, 2)
    for episode in range(3):
        state, done, losses = env.reset(), False, []
        while not done:
            action, q_value = agent.act(state)
            next_state, reward, done = env.step(action)
            agent.remember(state, action, reward, next_state, done, q_value)
            state = next_state
            loss = agent.learn()
            if loss is not None:
                losses.append(loss)
        print(f"episode {episode}: steps {env.t}, updates {len(losses)}, loss {sum(losses) / len(losses):.5f}")


if __name__ == "__main__":
    main()
