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
        with torch.no_grad():
            values = self.values + [last_value]
            adv, acc = [], torch.zeros_like(last_value)
            for t in reversed(range(len(self.rewards))):
                alive = 1 - torch.from_numpy(self.dones[t])
                delta = torch.from_numpy(self.rewards[t]) + gamma * values[t + 1] * alive - values[t]
                acc = delta + gamma * lam * alive * acc
                adv.insert(0, acc)
            adv = torch.stack(adv)
            return adv, adv + torch.stack(self.values)
