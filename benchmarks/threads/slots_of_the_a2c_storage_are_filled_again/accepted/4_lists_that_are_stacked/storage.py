import torch


class RolloutStorage(object):
    """Everything the loss needs from the last num_steps steps, [num_steps, num_processes, 1]."""

    def __init__(self, num_steps, num_processes):
        self.shape = (num_steps, num_processes, 1)
        self.clear()
        self.rewards = torch.zeros(*self.shape)
        self.masks = torch.ones(*self.shape)

    def insert(self, step, value, log_prob, entropy, reward, mask):
        self._values.append(value)
        self._log_probs.append(log_prob)
        self._entropies.append(entropy)
        self.rewards[step] = reward
        self.masks[step] = mask

    def clear(self):
        self._values, self._log_probs, self._entropies = [], [], []

    @property
    def values(self):
        return torch.stack(self._values)

    @property
    def log_probs(self):
        return torch.stack(self._log_probs)

    @property
    def entropies(self):
        return torch.stack(self._entropies)

    def compute_returns(self, next_value, gamma):
        returns = torch.zeros(*self.shape)
        running = next_value
        for step in reversed(range(self.shape[0])):
            running = self.rewards[step] + gamma * self.masks[step] * running
            returns[step] = running
        return returns

    def after_update(self):
        self.masks.fill_(1.0)
        self.clear()
