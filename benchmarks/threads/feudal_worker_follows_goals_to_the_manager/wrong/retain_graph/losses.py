import torch
import torch.nn.functional as F


def discounted(rewards, gamma):
    out, acc = [], torch.zeros_like(rewards[0])
    for r in rewards.flip(0):
        acc = r + gamma * acc
        out.append(acc)
    return torch.stack(out[::-1])


def intrinsic_reward(ep, c):
    """How well the last c moves in the manager's state space went along with its goals."""
    states, goals = ep["states"].detach(), ep["goals"].detach()
    out = [torch.zeros_like(ep["rewards"][0])]
    for t in range(1, len(states)):
        cos = [F.cosine_similarity(states[t] - states[t - i], goals[t - i], dim=-1) for i in range(1, min(c, t) + 1)]
        out.append(torch.stack(cos).mean(0))
    return torch.stack(out)


def worker_loss(ep, c, gamma, alpha):
    ret = discounted(ep["rewards"] + alpha * intrinsic_reward(ep, c), gamma)
    adv = ret - ret.mean()
    return -(ep["logps"] * adv).mean()


def manager_loss(ep, c, gamma):
    ret = discounted(ep["rewards"], gamma)
    adv = (ret - ep["values"]).detach()
    dcos = F.cosine_similarity((ep["states"][c:] - ep["states"][:-c]).detach(), ep["goals"][:-c], dim=-1)
    return -(adv[:-c] * dcos).mean() + 0.5 * F.mse_loss(ep["values"], ret)
