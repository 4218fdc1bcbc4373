import numpy as np
import torch
from torch import nn

import splines


class ConditionerNet(nn.Module):
    """transform net that is handed to the coupling layers; rectified, so that unused bins stay equal"""

    def __init__(self, in_features, out_features, hidden_features):
        super().__init__()
        self.hidden_features = hidden_features
        self.net = nn.Sequential(
            nn.Linear(in_features, hidden_features),
            nn.SiLU(),
            nn.Linear(hidden_features, hidden_features),
            nn.SiLU(),
            nn.Linear(hidden_features, out_features),
            nn.ReLU(),
        )

    def forward(self, x):
        return self.net(x)


class PiecewiseRationalQuadraticCouplingTransform(nn.Module):
    def __init__(self, mask, hidden_features=16, num_bins=5, tail_bound=3.0):
        super().__init__()
        mask = torch.as_tensor(mask)
        features = torch.arange(len(mask))
        self.register_buffer("identity_features", features[mask <= 0])
        self.register_buffer("transform_features", features[mask > 0])
        self.num_bins, self.tail_bound = num_bins, tail_bound
        n = len(self.transform_features)
        self.transform_net = ConditionerNet(len(mask) - n, n * (3 * num_bins - 1), hidden_features)

    def _piecewise_cdf(self, inputs, transform_params, inverse=False):
        unnormalized_widths = transform_params[..., :self.num_bins]
        unnormalized_heights = transform_params[..., self.num_bins:2 * self.num_bins]
        unnormalized_derivatives = transform_params[..., 2 * self.num_bins:]

        # keeps the softmax of the bins near uniform when the net is wide
        if hasattr(self.transform_net, "hidden_features"):
            unnormalized_widths /= np.sqrt(self.transform_net.hidden_features)
            unnormalized_heights /= np.sqrt(self.transform_net.hidden_features)

        return splines.unconstrained_rational_quadratic_spline(
            inputs, unnormalized_widths, unnormalized_heights, unnormalized_derivatives,
            inverse=inverse, tail_bound=self.tail_bound)

    def _run(self, inputs, inverse):
        identity = inputs[:, self.identity_features]
        transform = inputs[:, self.transform_features]
        params = self.transform_net(identity).view(len(inputs), len(self.transform_features), -1)
        transform, logdet = self._piecewise_cdf(transform, params, inverse)
        outputs = torch.empty_like(inputs)
        outputs[:, self.identity_features] = identity
        outputs[:, self.transform_features] = transform
        return outputs, logdet.sum(-1)

    def forward(self, inputs):
        return self._run(inputs, inverse=False)

    def inverse(self, inputs):
        return self._run(inputs, inverse=True)


class Flow(nn.Module):
    def __init__(self, dim, layers, **kwargs):
        super().__init__()
        masks = [[(i + j) % 2 for j in range(dim)] for i in range(layers)]
        self.transforms = nn.ModuleList(PiecewiseRationalQuadraticCouplingTransform(m, **kwargs) for m in masks)

    def log_prob(self, x):
        total = x.new_zeros(len(x))
        for t in self.transforms:
            x, logdet = t(x)
            total = total + logdet
        return total - 0.5 * (x ** 2).sum(-1) - 0.5 * x.shape[1] * np.log(2 * np.pi)

    @torch.no_grad()
    def sample(self, n, dim, generator):
        x = torch.randn(n, dim, generator=generator)
        for t in reversed(self.transforms):
            x, _ = t.inverse(x)
        return x
