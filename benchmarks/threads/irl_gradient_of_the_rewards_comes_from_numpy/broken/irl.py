import numpy as np
import torch
from torch import nn

from planning import expected_svf, soft_value_iteration


class RewardNet(nn.Module):
    def __init__(self, n_features, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, f):
        return self.net(f).squeeze(-1)


class MaxEntIRL:
    """Deep maximum entropy IRL (Wulfmeier et al. 2015).

    The negative log-likelihood of the demonstrations has the gradient  dL/dr = E[mu] - mu_D  with respect to the
    rewards of the states; the network is trained by passing it on.
    """

    def __init__(self, world, start, demo_svf, horizon, lr=0.02):
        self.world, self.start, self.demo_svf, self.horizon = world, start, demo_svf, horizon
        self.features = torch.from_numpy(world.features())
        self.net = RewardNet(self.features.shape[1])
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr, weight_decay=1e-4)

    def step(self):
        reward = self.net(self.features)
        r = reward.detach().numpy().astype(np.float64)
        policies = soft_value_iteration(self.world.P, r, self.horizon)
        svf = expected_svf(self.world.P, policies, self.start)

        grad_r = svf - self.demo_svf
        loss = torch.tensor(np.dot(grad_r, r), dtype=torch.float32)

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), np.abs(grad_r).sum()

    def train(self, iterations):
        for it in range(iterations):
            loss, gap = self.step()
            if it % 4 == 0 or it == iterations - 1:
                print(f"it {it:2d}  grad.r {loss: .5f}  |svf gap| {gap:.5f}")

    def recovered(self):
        with torch.no_grad():
            return self.net(self.features).numpy()
