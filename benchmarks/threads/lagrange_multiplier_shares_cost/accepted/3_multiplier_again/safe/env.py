import torch


class HazardGrid:
    """A bandit in disguise: rewards for going right, costs near hazards."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.w_r = torch.randn(cfg.obs, cfg.actions)
        self.w_c = torch.randn(cfg.obs, cfg.actions)

    @torch.no_grad()
    def collect(self, pi):
        obs = torch.randn(self.cfg.horizon, self.cfg.obs)
        dist = pi(obs)
        act = dist.sample()
        rew = (obs @ self.w_r).gather(1, act[:, None])[:, 0]
        cost = torch.sigmoid((obs @ self.w_c).gather(1, act[:, None])[:, 0])
        norm = lambda v: (v - v.mean()) / (v.std() + 1e-6)
        return dict(obs=obs, act=act, adv=norm(rew), cadv=cost - cost.mean(), cost=cost, logp=dist.log_prob(act))
