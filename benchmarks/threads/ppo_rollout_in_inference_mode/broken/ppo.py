from dataclasses import dataclass

import torch


@dataclass
class Experience:
    ids: torch.Tensor
    old_logp: torch.Tensor
    old_values: torch.Tensor
    rewards: torch.Tensor


def gae(rewards, values, gamma=0.98, lam=0.9):
    adv, last = [], torch.zeros(rewards.size(0))
    for t in reversed(range(rewards.size(1))):
        nxt = values[:, t + 1] if t + 1 < rewards.size(1) else 0.0
        delta = rewards[:, t] + gamma * nxt - values[:, t]
        last = delta + gamma * lam * last
        adv.append(last)
    return torch.stack(adv[::-1], 1)


class PPO:
    def __init__(self, policy, ref, reward_fn, kl=0.1, clip=0.2, epochs=3, n_prompt=3, n_new=5):
        self.policy, self.ref, self.reward_fn = policy, ref, reward_fn
        self.kl, self.clip, self.epochs = kl, clip, epochs
        self.n_prompt, self.n_new = n_prompt, n_new
        self.opt = torch.optim.Adam(policy.parameters(), lr=1e-2)

    @torch.inference_mode()
    def rollout(self, prompts):
        ids = prompts
        for _ in range(self.n_new):
            logits, _ = self.policy(ids)
            nxt = torch.multinomial(logits[:, -1].softmax(-1), 1)
            ids = torch.cat([ids, nxt], dim=1)
        logp, values = self.policy.logprobs_values(ids, self.n_prompt)
        ref_logp, _ = self.ref.logprobs_values(ids, self.n_prompt)
        rewards = -self.kl * (logp - ref_logp)
        rewards[:, -1] += self.reward_fn(ids[:, self.n_prompt:])
        return Experience(ids, logp, values, rewards)

    def update(self, exp):
        adv = gae(exp.rewards, exp.old_values)
        returns = adv + exp.old_values
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        stats = []
        for _ in range(self.epochs):
            logp, values = self.policy.logprobs_values(exp.ids, self.n_prompt)
            ratio = (logp - exp.old_logp).exp()
            surr = torch.min(ratio * adv, ratio.clamp(1 - self.clip, 1 + self.clip) * adv)
            v_loss = 0.5 * (values - returns).pow(2).mean()
            loss = -surr.mean() + 0.5 * v_loss
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            stats.append((loss.item(), ratio.mean().item()))
        return stats
