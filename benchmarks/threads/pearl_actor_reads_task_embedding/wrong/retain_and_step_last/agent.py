import copy
import itertools

import torch
import torch.nn.functional as F

from networks import ContextEncoder, QNet, TanhPolicy


class PEARLAgent(object):
    """PEARL (Rakelly et al. 2019): SAC with a probabilistic task embedding z.

    The context encoder is shaped by the Bellman error of the critics and by the information bottleneck (KL); the
    actor just reads z.
    """

    def __init__(self, obs_dim, act_dim, cfg):
        self.cfg = cfg
        L = cfg["latent"]
        self.encoder = ContextEncoder(obs_dim + act_dim + 1, L)
        self.policy = TanhPolicy(obs_dim, act_dim, L)
        self.qf1, self.qf2 = QNet(obs_dim, act_dim, L), QNet(obs_dim, act_dim, L)
        self.qf1_t, self.qf2_t = copy.deepcopy(self.qf1), copy.deepcopy(self.qf2)
        self.context_optimizer = torch.optim.Adam(self.encoder.parameters(), lr=cfg["lr"])
        self.qf_optimizer = torch.optim.Adam(itertools.chain(self.qf1.parameters(), self.qf2.parameters()), lr=cfg["lr"])
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=cfg["lr"])

    def _tile(self, z, n):
        # (tasks, latent) -> (tasks * n, latent)
        return z.unsqueeze(1).expand(-1, n, -1).reshape(-1, z.shape[-1])

    def update(self, context, obs, act, rew, next_obs):
        n_tasks, b = obs.shape[:2]
        obs, act, next_obs = (t.reshape(n_tasks * b, -1) for t in (obs, act, next_obs))
        rew = rew.reshape(n_tasks * b, 1)

        z, kl = self.encoder.infer_posterior(context)
        task_z = self._tile(z, b)

        # critics and context encoder
        with torch.no_grad():
            na, nlogp = self.policy.sample(next_obs, task_z)
            nq = torch.min(self.qf1_t(next_obs, na, task_z), self.qf2_t(next_obs, na, task_z))
            y = rew + self.cfg["gamma"] * (nq - self.cfg["alpha"] * nlogp)
        qf_loss = F.mse_loss(self.qf1(obs, act, task_z), y) + F.mse_loss(self.qf2(obs, act, task_z), y)
        self.context_optimizer.zero_grad()
        self.qf_optimizer.zero_grad()
        (qf_loss + self.cfg["kl_lambda"] * kl).backward(retain_graph=True)

        # actor
        new_act, logp = self.policy.sample(obs, task_z)
        q_pi = torch.min(self.qf1(obs, new_act, task_z), self.qf2(obs, new_act, task_z))
        policy_loss = (self.cfg["alpha"] * logp - q_pi).mean()
        self.policy_optimizer.zero_grad()
        policy_loss.backward()
        self.qf_optimizer.step()
        self.context_optimizer.step()
        self.policy_optimizer.step()

        self._soft_update()
        return {"qf": qf_loss.item(), "kl": kl.item(), "pi": policy_loss.item()}

    @torch.no_grad()
    def _soft_update(self):
        for net, tgt in ((self.qf1, self.qf1_t), (self.qf2, self.qf2_t)):
            for p, pt in zip(net.parameters(), tgt.parameters()):
                pt.lerp_(p, self.cfg["tau"])
