import torch
import torch.nn as nn
import torch.nn.functional as F


class RunningNorm(nn.Module):
    # running mean / variance like in the observation normalisers, but for learned features.
    # normalises with what it knows so far, then takes the new batch in
    def __init__(self, dim, momentum=0.2):
        super().__init__()
        self.register_buffer('mean', torch.zeros(dim))
        self.register_buffer('std', torch.ones(dim))
        self.momentum = momentum

    def forward(self, x):
        out = (x - self.mean) / self.std.clone()
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(x.mean(0), self.momentum)
                self.std.lerp_(x.std(0) + 1e-3, self.momentum)
        return out


class Representation(nn.Module):
    def __init__(self, obs_dim, act_dim, dim=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(obs_dim, 24), nn.ELU(), nn.Linear(24, dim))
        self.norm = RunningNorm(dim)
        self.dynamics = nn.Sequential(nn.Linear(dim + act_dim, 24), nn.ELU(), nn.Linear(24, dim))
        self.reward = nn.Linear(dim + act_dim, 1)
        self.inverse = nn.Linear(2 * dim, act_dim)

    def embed(self, obs):
        return self.norm(self.encoder(obs))

    def losses(self, obs, act, rew, next_obs):
        z, z_next = self.embed(obs), self.embed(next_obs)
        za = torch.cat([z, act], 1)
        return {
            'forward': F.smooth_l1_loss(self.dynamics(za), z_next),
            'reward': F.mse_loss(self.reward(za).squeeze(1), rew),
            'inverse': F.mse_loss(self.inverse(torch.cat([z, z_next], 1)), act),
        }


class Env:
    def __init__(self, obs_dim=5, act_dim=2):
        self.A, self.B = torch.eye(obs_dim) * 0.9 + 0.05 * torch.randn(obs_dim, obs_dim), torch.randn(act_dim, obs_dim)
        self.obs_dim, self.act_dim = obs_dim, act_dim

    def transitions(self, n):
        o, a = torch.randn(n, self.obs_dim), torch.rand(n, self.act_dim) * 2 - 1
        return o, a, -(o ** 2).sum(1) / 5, o @ self.A + a @ self.B


def main(seed=6, updates=8):
    torch.manual_seed(seed)
    env = Env()
    model = Representation(env.obs_dim, env.act_dim)
    optim = torch.optim.Adam(model.parameters(), lr=5e-3)
    for u in range(updates):
        ls = model.losses(*env.transitions(32))
        loss = sum(ls.values())
        optim.zero_grad()
        loss.backward()
        optim.step()
        if u % 2:
            print(u, ' '.join('%s %.5f' % (k, v.item()) for k, v in ls.items()), 'std %.5f' % model.norm.std.mean().item())


if __name__ == '__main__':
    main()
