import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn


class QNetwork(nn.Module):
    def __init__(self, state_size, n_actions, hidden=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(state_size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.value = nn.Linear(hidden, 1)
        self.advantage = nn.Linear(hidden, n_actions)

    def forward(self, x):
        h = self.trunk(x)
        adv = self.advantage(h)
        return self.value(h) + adv - adv.mean(-1, keepdim=True)


class TradingAgent:
    def __init__(self, state_size, n_actions, gamma=0.9, lr=3e-3):
        self.n_actions = n_actions
        self.gamma = gamma
        self.epsilon, self.epsilon_min, self.epsilon_decay = 1.0, 0.05, 0.7
        self.memory = deque(maxlen=500)
        self.model = QNetwork(state_size, n_actions)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.loss_fn = nn.SmoothL1Loss()

    @torch.no_grad()
    def predict(self, states):
        """Q-values of a batch of numpy states"""
        return self.model(torch.as_tensor(np.asarray(states), dtype=torch.float32))

    def act(self, state):
        if random.random() < self.epsilon:
            return random.randrange(self.n_actions)
        return int(self.predict([state])[0].argmax())

    def remember(self, *transition):
        self.memory.append(transition)

    def replay(self, batch_size):
        states, actions, rewards, next_states, dones = zip(*random.sample(self.memory, batch_size))
        actions = torch.tensor(actions).unsqueeze(1)
        rewards = torch.tensor(rewards, dtype=torch.float32)
        dones = torch.tensor(dones, dtype=torch.float32)

        q = self.model(torch.as_tensor(np.asarray(states), dtype=torch.float32)).gather(1, actions).squeeze(1)
        next_q = self.predict(next_states).max(1).values
        target = rewards + self.gamma * (1 - dones) * next_q

        loss = self.loss_fn(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def decay_exploration(self):
        self.epsilon = max(self.epsilon_min, self.epsilon * self.epsilon_decay)
