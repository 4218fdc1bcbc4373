"""Discrete soft actor-critic on a toy thermostat.   usage: python main.py"""
import numpy as np
import torch

from agent import DiscreteSAC
from buffer import ReplayBuffer
from env import Thermostat


def run(cfg):
    np.random.seed(cfg["seed"])
    torch.manual_seed(cfg["seed"])
    env = Thermostat(cfg["seed"])
    agent = DiscreteSAC(env.obs_dim, env.n_actions, cfg)
    buffer = ReplayBuffer(cfg["capacity"])

    for episode in range(cfg["episodes"]):
        obs, total, logs = env.reset(), 0.0, []
        for _ in range(cfg["horizon"]):
            action = agent.act(obs)
            nxt, reward, done = env.step(action)
            buffer.add(obs, action, reward, nxt, done)
            obs, total = nxt, total + reward
            if len(buffer) >= cfg["batch_size"]:
                logs.append(agent.update(buffer.sample(cfg["batch_size"])))
        q_loss, pi_loss = np.mean(logs, axis=0) if logs else (0.0, 0.0)
        print(f"episode {episode} return {total:.4f} q {q_loss:.6f} pi {pi_loss:.6f}")


if __name__ == "__main__":
    run(dict(seed=3, episodes=4, horizon=30, batch_size=16, capacity=500, hidden=32,
             lr=3e-3, gamma=0.95, tau=0.02, alpha=0.1))
