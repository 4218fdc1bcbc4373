import math

import torch


def get_action(mu, std):
    action = torch.normal(mu, std)
    action = action.data.numpy()
    return action


def get_entropy(std):
    return (0.5 + 0.5 * math.log(2 * math.pi) + torch.log(std)).sum(1, keepdim=True)


def log_prob_density(x, mu, std):
    log_prob = -(x - mu).pow(2) / (2 * std.pow(2)) - 0.5 * math.log(2 * math.pi) - torch.log(std)
    return log_prob.sum(1, keepdim=True)


def get_gae(rewards, masks, values, args):
    returns = torch.zeros_like(rewards)
    advants = torch.zeros_like(rewards)

    running_returns = 0
    previous_value = 0
    running_advants = 0

    for t in reversed(range(0, len(rewards))):
        running_returns = rewards[t] + args.gamma * running_returns * masks[t]
        running_delta = rewards[t] + args.gamma * previous_value * masks[t] - values.data[t]
        running_advants = running_delta + args.gamma * args.lamda * running_advants * masks[t]

        returns[t] = running_returns
        previous_value = values.data[t]
        advants[t] = running_advants

    advants = (advants - advants.mean()) / advants.std()
    return returns, advants
