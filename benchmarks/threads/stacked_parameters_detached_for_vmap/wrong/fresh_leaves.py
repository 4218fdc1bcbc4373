"""Bootstrap ensemble trained in one go with vmap (after the torch.func ensembling tutorial)."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, stack_module_state


class Regressor(nn.Module):
    """mean and log variance of the next state"""

    def __init__(self, n_in, n_out, hidden=24):
        super().__init__()
        self.fc1 = nn.Linear(n_in, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 2 * n_out)

    def forward(self, x):
        x = F.silu(self.fc1(x))
        x = F.silu(self.fc2(x))
        mean, logvar = self.out(x).chunk(2, -1)
        return mean, logvar.clamp(-6, 2)


class Ensemble:
    def __init__(self, make, size, lr):
        models = [make() for _ in range(size)]
        self.params, self.buffers = stack_module_state(models)
        self.base = copy.deepcopy(models[0]).to('meta')
        self.optimizer = torch.optim.AdamW(self.params.values(), lr=lr, weight_decay=1e-3)
        self.size = size

    def predict(self, x, in_dims=(0, 0, 0)):
        def fmodel(params, buffers, x):
            return functional_call(self.base, (params, buffers), (x,))
        params = {k: v.detach().requires_grad_() for k, v in self.params.items()}
        return torch.vmap(fmodel, in_dims=in_dims)(params, self.buffers, x)

    def train_step(self, x, y):
        """x, y: (members, batch, ...) - each member has its own bootstrap sample"""
        mean, logvar = self.predict(x)
        nll = 0.5 * ((y - mean) ** 2 * torch.exp(-logvar) + logvar).mean((1, 2))
        loss = nll.sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return nll.detach()

    @torch.no_grad()
    def disagreement(self, x):
        mean, _ = self.predict(x, in_dims=(0, 0, None))
        return mean.std(0).mean().item()


def dynamics(s, a):
    return torch.stack([s[..., 0] + 0.1 * s[..., 1], 0.98 * s[..., 1] - 0.3 * torch.sin(s[..., 0]) + 0.2 * a[..., 0]], -1)


if __name__ == '__main__':
    torch.manual_seed(782)
    s, a = torch.randn(120, 2), torch.rand(120, 1) * 2 - 1
    X, Y = torch.cat([s, a], 1), dynamics(s, a) + 0.02 * torch.randn(120, 2)
    ens = Ensemble(lambda: Regressor(3, 2), size=4, lr=1e-2)
    for epoch in range(8):
        idx = torch.randint(0, 120, (ens.size, 32))
        nll = ens.train_step(X[idx], Y[idx])
        if epoch % 2:
            print(f'{epoch} nll', ' '.join(f'{v:.5f}' for v in nll.tolist()), f'disagreement {ens.disagreement(3 * X):.5f}')
