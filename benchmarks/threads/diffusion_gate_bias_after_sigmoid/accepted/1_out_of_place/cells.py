import torch
import torch.nn as nn


class DCGRUCell(nn.Module):
    """Diffusion convolutional GRU. With use_gc_for_ru=False the reset and update gates are fully connected."""

    def __init__(self, in_dim, units, supports, n_nodes, max_step=2, use_gc_for_ru=True):
        super().__init__()
        self.units, self.max_step = units, max_step
        self.supports = supports
        self.use_gc_for_ru = use_gc_for_ru
        n_mat = len(supports) * max_step + 1
        width = in_dim + units
        self.gc_weight = nn.Parameter(torch.empty(width * n_mat, units))
        self.gc_bias = nn.Parameter(torch.zeros(units))
        fan = width * n_mat if use_gc_for_ru else width
        self.ru_weight = nn.Parameter(torch.empty(fan, 2 * units))
        self.ru_bias = nn.Parameter(torch.full((2 * units,), 1.0))   # bias_start=1.0
        nn.init.xavier_normal_(self.gc_weight)
        nn.init.xavier_normal_(self.ru_weight)

    def forward(self, inputs, hx):
        fn = self._gconv if self.use_gc_for_ru else self._fc
        value = torch.sigmoid(fn(inputs, hx, self.ru_weight, self.ru_bias))
        r, u = torch.split(value, self.units, dim=-1)
        c = torch.tanh(self._gconv(inputs, r * hx, self.gc_weight, self.gc_bias))
        return u * hx + (1.0 - u) * c

    def _fc(self, inputs, state, weights, biases):
        inputs_and_state = torch.cat([inputs, state], dim=-1)
        value = torch.sigmoid(torch.matmul(inputs_and_state, weights))
        value = value + biases
        return value

    def _gconv(self, inputs, state, weights, biases):
        x = torch.cat([inputs, state], dim=-1)
        feats = [x]
        for support in self.supports:
            xk = x
            for _ in range(self.max_step):
                xk = torch.matmul(support, xk)
                feats.append(xk)
        return torch.matmul(torch.cat(feats, dim=-1), weights) + biases
