import copy

import torch
import torch.nn.functional as F

EXP_ADV_MAX = 100.0


def asymmetric_l2_loss(u, tau):
    return torch.mean(torch.abs(tau - (u < 0).float()) * u ** 2)


def update_exponential_moving_average(target, source, alpha):
    for tp, sp in zip(target.parameters(), source.parameters()):
        tp.data.mul_(1.0 - alpha).add_(sp.data, alpha=alpha)


class ImplicitQLearning:
    """Value by expectile regression, Q by TD, policy by advantage weighted regression."""

    def __init__(self, qf, vf, policy, expectile, beta, discount=0.99, alpha=0.005, lr=3e-4):
        self.qf, self.vf, self.policy = qf, vf, policy
        self.q_target = copy.deepcopy(qf).requires_grad_(False)
        self.v_optimizer = torch.optim.Adam(self.vf.parameters(), lr=lr)
        self.q_optimizer = torch.optim.Adam(self.qf.parameters(), lr=lr)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.tau, self.beta, self.discount, self.alpha = expectile, beta, discount, alpha

    def minimise(self, loss, optimizer):
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    def update(self, observations, actions, rewards, next_observations, terminals):
        log = {}
        with torch.no_grad():
            target_q = self.q_target(observations, actions)
            next_v = self.vf(next_observations)

        # V
        v = self.vf(observations)
        adv = target_q - v
        log["v_loss"] = self.minimise(asymmetric_l2_loss(adv, self.tau), self.v_optimizer)

        # Q
        targets = rewards + (1.0 - terminals) * self.discount * next_v
        qs = self.qf.both(observations, actions)
        q_loss = sum(F.mse_loss(q, targets) for q in qs) / len(qs)
        log["q_loss"] = self.minimise(q_loss, self.q_optimizer)
        update_exponential_moving_average(self.q_target, self.qf, self.alpha)

        # policy
        with torch.no_grad():
            exp_adv = torch.exp(self.beta * adv).clamp(max=EXP_ADV_MAX)
            bc_loss = -self.policy(observations).log_prob(actions).sum(-1)
        policy_loss = torch.mean(exp_adv * bc_loss).requires_grad_(True)
        log["policy_loss"] = self.minimise(policy_loss, self.policy_optimizer)
        return log
