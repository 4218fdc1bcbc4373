import copy

import torch
from torch.distributions import kl_divergence


def policy_phase(agent, rollout, opt_pi, opt_v, cfg):
    obs, act, ret = rollout["obs"], rollout["act"], rollout["ret"]
    with torch.no_grad():
        old_logp = agent.pi(obs).log_prob(act)
        adv = ret - agent.value(obs)
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(cfg["e_pi"]):
        pi = agent.pi(obs)
        ratio = (pi.log_prob(act) - old_logp).exp()
        surr = torch.min(ratio * adv, ratio.clamp(1 - cfg["clip"], 1 + cfg["clip"]) * adv)
        loss_pi = -surr.mean() - cfg["beta_s"] * pi.entropy().mean()
        opt_pi.zero_grad()
        loss_pi.backward()
        opt_pi.step()
    for _ in range(cfg["e_v"]):
        loss_v = 0.5 * (agent.value(obs) - ret).pow(2).mean()
        opt_v.zero_grad()
        loss_v.backward()
        opt_v.step()
    return loss_pi.item(), loss_v.item()


def auxiliary_phase(agent, buffer, opt_pi, opt_v, cfg):
    """Distils the value into the policy network while a KL term keeps the policy where the policy phase left it."""
    obs = torch.cat([r["obs"] for r in buffer])
    ret = torch.cat([r["ret"] for r in buffer])
    old_agent = copy.deepcopy(agent).requires_grad_(False)
    old_pi = old_agent.pi(obs)
    for _ in range(cfg["e_aux"]):
        joint = 0.5 * (agent.aux_value(obs) - ret).pow(2).mean()
        joint = joint + cfg["beta_clone"] * kl_divergence(old_pi, agent.pi(obs)).mean()
        opt_pi.zero_grad()
        joint.backward()
        opt_pi.step()

        loss_v = 0.5 * (agent.value(obs) - ret).pow(2).mean()
        opt_v.zero_grad()
        loss_v.backward()
        opt_v.step()
    return joint.item()
