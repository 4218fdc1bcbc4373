import torch


class RolloutStorage(object):
    """Everything the loss needs from the last num_steps steps, [num_steps, num_processes, 1]."""

    def __init__(self, num_steps, num_processes):
        self.shape = (num_steps, num_processes, 1)
        self.values = torch.zeros(*self.shape)
        self.log_probs = torch.zeros(*self.shape)
        self.entropies = torch.zeros(*self.shape)
        self.rewards = torch.zeros(*self.shape)
        self.masks = torch.ones(*self.shape)

    def insert(self, step, value, log_prob, entropy, reward, mask):
        self.values[step] = value
        self.log_probs[step] = log_prob.data
        self.entropies[step] = entropy
        self.rewards[step] = reward
        self.masks[step] = mask

    def compute_returns(self, next_value, gamma):
        returns = torch.zeros(*self.shape)
        running = next_value
        for step in reversed(range(self.shape[0])):
            running = self.rewards[step] + gamma * self.masks[step] * running
            returns[step] = running
        return returns

    def after_update(self):
        self.masks.fill_(1.0)
        self.values.detach_()
        self.entropies.detach_()
