import torch
import torch.nn.functional as F

from .nets import frozen_copy


class COMBOPolicy:
    """Conservative offline model-based policy optimisation, fixed entropy weight."""

    def __init__(self, actor, critic1, critic2, actor_optim, critic1_optim, critic2_optim,
                 gamma=0.95, tau=0.05, alpha=0.1, cql_weight=1.0, temperature=1.0, num_repeat_actions=10):
        self.actor, self.critic1, self.critic2 = actor, critic1, critic2
        self.critic1_old, self.critic2_old = frozen_copy(critic1), frozen_copy(critic2)
        self.actor_optim = actor_optim
        self.critic1_optim = critic1_optim
        self.critic2_optim = critic2_optim
        self.gamma, self.tau, self.alpha = gamma, tau, alpha
        self.cql_weight, self.temperature, self.n = cql_weight, temperature, num_repeat_actions

    def calc_pi_values(self, obs_pi, obs_to_pred):
        act, log_prob = self.actor.rsample(obs_pi)
        q1 = self.critic1(obs_to_pred, act)
        q2 = self.critic2(obs_to_pred, act)
        return q1 - log_prob.detach(), q2 - log_prob.detach()

    def calc_random_values(self, obs, random_act):
        log_prob = torch.log(torch.tensor(0.5 ** random_act.shape[-1]))
        return self.critic1(obs, random_act) - log_prob, self.critic2(obs, random_act) - log_prob

    def conservative(self, cat_q, q):
        gap = torch.logsumexp(cat_q / self.temperature, 1).mean() * self.temperature
        return self.cql_weight * (gap - q.mean())

    def learn(self, batch):
        obss, actions, rewards = batch["observations"], batch["actions"], batch["rewards"]
        next_obss, terminals = batch["next_observations"], batch["terminals"]
        batch_size = len(obss)

        # actor
        a, log_probs = self.actor.rsample(obss)
        q = torch.min(self.critic1(obss, a), self.critic2(obss, a))
        actor_loss = (self.alpha * log_probs - q).mean()
        self.actor_optim.zero_grad()
        actor_loss.backward()
        self.actor_optim.step()

        # critics: temporal difference
        with torch.no_grad():
            next_a, _ = self.actor.rsample(next_obss)
            next_q = torch.min(self.critic1_old(next_obss, next_a), self.critic2_old(next_obss, next_a))
            target_q = rewards + self.gamma * (1 - terminals) * next_q
        q1, q2 = self.critic1(obss, actions), self.critic2(obss, actions)
        critic1_loss = F.mse_loss(q1, target_q)
        critic2_loss = F.mse_loss(q2, target_q)

        # critics: conservative term
        tmp_obss = obss.unsqueeze(1).repeat(1, self.n, 1).reshape(batch_size * self.n, -1)
        tmp_next = next_obss.unsqueeze(1).repeat(1, self.n, 1).reshape(batch_size * self.n, -1)
        random_actions = torch.empty(len(tmp_obss), actions.shape[-1]).uniform_(-1, 1)
        pi_value1, pi_value2 = self.calc_pi_values(tmp_obss, tmp_obss)
        next_value1, next_value2 = self.calc_pi_values(tmp_next, tmp_obss)
        rand_value1, rand_value2 = self.calc_random_values(tmp_obss, random_actions)
        shape = (batch_size, self.n, 1)
        cat_q1 = torch.cat([v.reshape(shape) for v in (pi_value1, next_value1, rand_value1)], 1)
        cat_q2 = torch.cat([v.reshape(shape) for v in (pi_value2, next_value2, rand_value2)], 1)
        critic1_loss = critic1_loss + self.conservative(cat_q1, q1)
        critic2_loss = critic2_loss + self.conservative(cat_q2, q2)

        self.critic1_optim.zero_grad()
        critic1_loss.backward(retain_graph=True)
        self.critic1_optim.step()

        self.critic2_optim.zero_grad()
        critic2_loss.backward()
        self.critic2_optim.step()

        self.sync_weight()
        return {"actor": actor_loss.item(), "critic1": critic1_loss.item(), "critic2": critic2_loss.item()}

    @torch.no_grad()
    def sync_weight(self):
        for new, old in ((self.critic1, self.critic1_old), (self.critic2, self.critic2_old)):
            for p, q in zip(new.parameters(), old.parameters()):
                q.lerp_(p, self.tau)
