from dataclasses import dataclass

import torch


@dataclass
class Experience:
    tokens: torch.Tensor
    old_logp: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    kl: float


def shaped_rewards(scores, logp, ref_logp, beta):
    """-beta * KL on every token, the score on the last one."""
    rewards = -beta * (logp - ref_logp)
    rewards = torch.cat([rewards[:, :-1], rewards[:, -1:] + scores[:, None]], 1)
    return rewards


def gae(rewards, values, gamma=1.0, lam=0.95):
    advs, last = [], 0.0
    for t in reversed(range(rewards.shape[1])):
        nxt = values[:, t + 1] if t + 1 < rewards.shape[1] else 0.0
        delta = rewards[:, t] + gamma * nxt - values[:, t]
        last = delta + gamma * lam * last
        advs.insert(0, last)
    return torch.stack(advs, 1)


def make_experience(policy, reference, critic, score, prompts, length, beta):
    tokens = policy.generate(prompts, length)
    logp = policy.log_probs(tokens)
    with torch.no_grad():
        ref_logp = reference.log_probs(tokens)
        values = critic(tokens)
    rewards = shaped_rewards(score(tokens), logp.detach(), ref_logp, beta)
    advantages = gae(rewards, values)
    returns = (advantages + values).detach()
    advantages = advantages / (advantages.std() + 1e-8)
    kl = (logp - ref_logp).sum(1).mean().item()
    return Experience(tokens, logp.detach(), advantages, returns, kl)
