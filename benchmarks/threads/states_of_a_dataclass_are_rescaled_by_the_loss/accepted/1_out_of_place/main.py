import torch

from losses import consistency, reward_loss
from world import World

torch.manual_seed(3)
world = World()
opt = torch.optim.Adam(world.parameters(), lr=2e-3)
for it in range(8):
    obs = torch.randn(5, 4, 3)
    roll = world.imagine(obs[0], 4)
    loss = reward_loss(world, roll, obs[1:].sum(-1)) + consistency(roll, obs[1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(it, round(loss.item(), 4))
