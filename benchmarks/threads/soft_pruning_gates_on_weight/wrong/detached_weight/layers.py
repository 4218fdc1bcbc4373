import torch
import torch.nn as nn
import torch.nn.functional as F


class GatedLinear(nn.Linear):
    """Linear layer with a learnable soft mask per output neuron (for pruning afterwards).

    Effective weight = weight * sigmoid(score / T).  Weights and scores are learned together.
    """

    def __init__(self, n_in, n_out, temperature=0.5):
        super().__init__(n_in, n_out)
        self.score = nn.Parameter(torch.zeros(n_out, 1) + 0.2 * torch.randn(n_out, 1))
        self.temperature = temperature

    def gate(self):
        return torch.sigmoid(self.score / self.temperature)

    def forward(self, x):
        weight = self.weight.detach() * self.gate()
        return F.linear(x, weight, self.bias)

    def sparsity(self):
        return float((self.gate() < 0.5).float().mean())


def gate_penalty(model):
    gates = [m.gate().mean() for m in model.modules() if isinstance(m, GatedLinear)]
    return torch.stack(gates).mean()
