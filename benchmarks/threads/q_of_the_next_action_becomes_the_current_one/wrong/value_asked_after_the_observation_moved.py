# -*- coding: utf-8 -*-
"""Semi-gradient SARSA mit einem kleinen MLP: Ladesteuerung eines Heimspeichers.

Zustand: Ladestand, Tageszeit (sin, cos), Preis, PV-Leistung
Aktionen: 0 entladen, 1 nichts, 2 laden
"""
import argparse
import math
from collections import deque

import numpy as np
import torch
from torch import nn


class BatteryEnv:
    def __init__(self, seed=0, horizon=24):
        self.rng = np.random.default_rng(seed)
        self.horizon = horizon

    def _obs(self):
        phase = 2 * math.pi * self.t / 24.0
        return np.array([self.soc, math.sin(phase), math.cos(phase), self.price, self.pv], dtype=np.float32)

    def _market(self):
        phase = 2 * math.pi * self.t / 24.0
        self.price = 0.3 + 0.12 * math.sin(phase - 1.0) + 0.03 * self.rng.standard_normal()
        self.pv = max(0.0, -math.cos(phase)) * self.rng.uniform(0.5, 1.0)

    def reset(self):
        self.t, self.soc = 0, float(self.rng.uniform(0.2, 0.8))
        self._market()
        return self._obs()

    def step(self, action):
        delta = 0.1 * (action - 1)
        new = min(1.0, max(0.0, self.soc + delta))
        moved, self.soc = new - self.soc, new
        demand = 0.15 - 0.1 * self.pv + moved
        reward = -10.0 * self.price * demand
        self.t += 1
        self._market()
        return self._obs(), reward, self.t >= self.horizon


class QNet(nn.Module):
    def __init__(self, n_obs, n_act, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_obs, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, n_act),
        )

    def forward(self, obs):
        return self.layers(torch.as_tensor(obs))


class SarsaAgent:
    def __init__(self, n_obs, n_act, cfg):
        self.q = QNet(n_obs, n_act, cfg.width)
        self.opt = torch.optim.RMSprop(self.q.parameters(), lr=cfg.lr)
        self.gamma, self.eps, self.n_act = cfg.gamma, cfg.eps, n_act
        self.rng = np.random.default_rng(cfg.seed + 1)

    def choose(self, obs):
        """epsilon-greedy, liefert die Aktion und ihren Wert"""
        values = self.q(obs)
        if self.rng.random() < self.eps:
            action = int(self.rng.integers(self.n_act))
        else:
            action = int(values.argmax())
        return action, values[action]

    def learn(self, value, reward, next_value, done):
        target = reward + (0.0 if done else self.gamma * next_value.item())
        delta = target - value
        loss = 0.5 * delta.pow(2)
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), 10.0)
        self.opt.step()
        return loss.item()

    def decay(self, factor, floor=0.02):
        self.eps = max(floor, self.eps * factor)


def run_episode(env, agent):
    obs = env.reset()
    action, value = agent.choose(obs)
    total, losses, done = 0.0, [], False
    while not done:
        obs, reward, done = env.step(action)
        value = agent.q(obs)[action]
        next_action, next_value = agent.choose(obs)
        losses.append(agent.learn(value, reward, next_value, done))
        action, value = next_action, next_value
        total += reward
    return total, float(np.mean(losses))


def evaluate(env, agent, episodes=2):
    eps, agent.eps = agent.eps, 0.0
    totals = []
    with torch.no_grad():
        for _ in range(episodes):
            obs, done, total = env.reset(), False, 0.0
            while not done:
                action, _ = agent.choose(obs)
                obs, reward, done = env.step(action)
                total += reward
            totals.append(total)
    agent.eps = eps
    return float(np.mean(totals))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--width", type=int, default=24)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--eps", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=21)
    cfg = parser.parse_args()

    torch.manual_seed(cfg.seed)
    env, test_env = BatteryEnv(cfg.seed), BatteryEnv(cfg.seed + 100)
    agent = SarsaAgent(5, 3, cfg)
    recent = deque(maxlen=4)
    for episode in range(1, cfg.episodes + 1):
        total, loss = run_episode(env, agent)
        recent.append(total)
        agent.decay(0.95)
        print(f"Episode {episode}: Ertrag {total:.5f}  Mittel {np.mean(recent):.5f}  Verlust {loss:.6f}")
        if episode % 4 == 0:
            print(f"    Test: {evaluate(test_env, agent):.5f}")


if __name__ == "__main__":
    main()
