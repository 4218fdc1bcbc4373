import torch
import torch.nn as nn


class PopArt(nn.Module):
    def __init__(self, in_features, out_features, beta=0.7):
        super(PopArt, self).__init__()
        self.beta = beta
        self.weight = nn.Parameter(torch.randn(out_features, in_features) * 0.3)
        self.bias = nn.Parameter(torch.zeros(out_features))
        self.stddev = nn.Parameter(torch.ones(out_features), requires_grad=False)
        self.mean = nn.Parameter(torch.zeros(out_features), requires_grad=False)
        self.mean_sq = nn.Parameter(torch.ones(out_features), requires_grad=False)

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)

    @torch.no_grad()
    def update(self, returns):
        old_mean, old_stddev = self.mean.clone(), self.stddev.clone()
        self.mean.mul_(self.beta).add_(returns.mean(0) * (1 - self.beta))
        self.mean_sq.mul_(self.beta).add_((returns ** 2).mean(0) * (1 - self.beta))
        self.stddev = (self.mean_sq - self.mean ** 2).sqrt().clamp(min=1e-4)
        self.weight = (self.weight.t() * old_stddev / self.stddev).t()
        self.bias = (old_stddev * self.bias + old_mean - self.mean) / self.stddev

    def normalize(self, returns):
        return (returns - self.mean) / self.stddev


class Critic(nn.Module):
    def __init__(self):
        super(Critic, self).__init__()
        self.base = nn.Sequential(nn.Linear(5, 12), nn.Tanh())
        self.v_out = PopArt(12, 1)

    def forward(self, obs):
        return self.v_out(self.base(obs))


if __name__ == '__main__':
    torch.manual_seed(19)
    critic = Critic()
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
    for i in range(6):
        obs = torch.randn(24, 5)
        returns = 3 * obs[:, :1] + 4
        critic.v_out.update(returns)
        value_loss = (critic(obs) - critic.v_out.normalize(returns)).pow(2).mean()
        critic_optimizer.zero_grad()
        value_loss.backward()
        critic_optimizer.step()
    print('value_loss %.6f bias %.6f' % (value_loss.item(), critic.v_out.bias.item()))
