import numpy as np
import torch


class Rollout:
    """what happened in n_steps steps of all environments; the update is done on the very same outputs (no replay)"""

    def __init__(self):
        self.values, self.log_probs, self.entropies = [], [], []
        self.rewards, self.dones = [], []

    def add(self, value, log_prob, entropy, reward, done):
        self.values.append(value)
        self.log_probs.append(log_prob)
        self.entropies.append(entropy)
        self.rewards.append(reward)
        self.dones.append(done)

    def gae(self, last_value, gamma, lam):
        """generalised advantage estimation, vectorised over envs"""
        values = np.stack([v.numpy() for v in self.values] + [last_value.numpy()])
        rewards, dones = np.stack(self.rewards), np.stack(self.dones)
        adv = np.zeros_like(rewards)
        acc = np.zeros(rewards.shape[1], dtype=np.float32)
        for t in reversed(range(len(rewards))):
            delta = rewards[t] + gamma * values[t + 1] * (1 - dones[t]) - values[t]
            acc = delta + gamma * lam * (1 - dones[t]) * acc
            adv[t] = acc
        returns = adv + values[:-1]
        return torch.from_numpy(adv), torch.from_numpy(returns)
