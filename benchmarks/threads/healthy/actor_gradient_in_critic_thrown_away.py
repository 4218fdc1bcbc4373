# DDPG as it is written: the actor's loss leaves a gradient in the critic, which the critic's zero_grad throws away.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
actor_opt, critic_opt = torch.optim.Adam(actor.parameters(), lr=3e-3), torch.optim.Adam(critic.parameters(), lr=3e-3)
for step in range(6):
    s, a = torch.randn(24, 3), torch.rand(24, 1) * 2 - 1
    r = -(a - s[:, :1]).pow(2)
    critic_opt.zero_grad()
    critic_loss = F.mse_loss(critic(torch.cat([s, a], 1)), r)
    critic_loss.backward()
    critic_opt.step()
    actor_opt.zero_grad()
    actor_loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    actor_loss.backward()
    actor_opt.step()
print(f"{critic_loss.item():.6f} {actor_loss.item():.6f}")
