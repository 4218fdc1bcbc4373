import torch


class Rollout:
    """what one rollout phase collected, time x env"""

    def __init__(self):
        self.clear()

    def clear(self):
        self.obs, self.act, self.logp, self.rew, self.val = [], [], [], [], []

    def add(self, obs, act, logp, rew, val):
        self.obs.append(obs)
        self.act.append(act)
        self.logp.append(logp)
        self.rew.append(rew)
        self.val.append(val)

    def finish(self, last_val, gamma=0.97, lam=0.9):
        adv, gae, nxt = [], torch.zeros_like(last_val), last_val
        for r, v in zip(reversed(self.rew), reversed(self.val)):
            delta = r + gamma * nxt - v
            gae = delta + gamma * lam * gae
            adv.insert(0, gae)
            nxt = v
        self.adv = torch.cat(adv)
        self.ret = self.adv + torch.cat(self.val)
        self.adv = (self.adv - self.adv.mean()) / (self.adv.std() + 1e-8)
        self.obs, self.act, self.logp = torch.cat(self.obs), torch.cat(self.act), torch.cat(self.logp)

    def minibatches(self, size):
        idx = torch.randperm(len(self.adv))
        for i in range(0, len(idx), size):
            j = idx[i:i + size]
            yield self.obs[j], self.act[j], self.logp[j], self.adv[j], self.ret[j]
