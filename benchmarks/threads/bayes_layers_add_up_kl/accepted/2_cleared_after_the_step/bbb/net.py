import torch
import torch.nn as nn

from .layers import BayesLinear


class BayesNet(nn.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.fc1 = BayesLinear(n_in, hidden)
        self.fc2 = BayesLinear(hidden, n_out)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))

    def bayes_layers(self):
        return [m for m in self.modules() if isinstance(m, BayesLinear)]

    def kl(self):
        """What the layers have added up since they were last cleared."""
        return sum(m.kl for m in self.bayes_layers())

    def clear_kl(self):
        for m in self.bayes_layers():
            m.kl = 0
