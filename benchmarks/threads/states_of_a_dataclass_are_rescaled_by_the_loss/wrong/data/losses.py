import torch


def reward_loss(world, roll, rewards, gamma=0.9):
    states = roll.states
    value = world.reward(states).squeeze(-1)
    discount = gamma ** torch.arange(len(states)).view(-1, 1, 1)
    states.data.mul_(discount)
    return (value - rewards).square().mean() + 0.01 * states.abs().mean()


def consistency(roll, obs):
    drift = (roll.states[1:] - roll.states[:-1]).square().mean()
    return (roll.decoded - obs).square().mean() + 0.1 * drift
