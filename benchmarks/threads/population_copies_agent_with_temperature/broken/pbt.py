import copy
import numpy as np
import torch


def reward(obs, act):
    # one-step problem: the best action is a smooth function of the state
    best = torch.tanh(obs[:, :1] - 0.5 * obs[:, 1:2])
    return 1.0 - (act - best).pow(2).sum(-1)


class Worker:
    def __init__(self, agent, lr):
        self.agent, self.lr = agent, lr
        self.make_optimizers()

    def make_optimizers(self):
        self.actor_opt = torch.optim.Adam(self.agent.actor.parameters(), lr=self.lr)
        self.critic_opt = torch.optim.Adam(self.agent.critic.parameters(), lr=self.lr)
        self.alpha_opt = torch.optim.Adam([self.agent.log_alpha], lr=10 * self.lr)

    def update(self, obs, noise):
        ag = self.agent
        # critic
        with torch.no_grad():
            a, _ = ag.act(obs, noise)
            target = reward(obs, a)
        q_loss = (ag.q(obs, a) - target).pow(2).mean()
        self.critic_opt.zero_grad()
        q_loss.backward()
        self.critic_opt.step()
        # actor
        a, logp = ag.act(obs, noise)
        pi_loss = (ag.alpha * logp - ag.q(obs, a)).mean()
        self.actor_opt.zero_grad()
        pi_loss.backward()
        self.actor_opt.step()
        # temperature
        self.alpha_opt.zero_grad()
        alpha_loss = -(ag.log_alpha * (logp + ag.target_entropy).detach()).mean()
        alpha_loss.backward()
        self.alpha_opt.step()
        ag.alpha = ag.log_alpha.exp()


class Population:
    def __init__(self, agents, lrs, batch, seed):
        self.workers = [Worker(a, lr) for a, lr in zip(agents, lrs)]
        self.batch = batch
        self.gen = torch.Generator().manual_seed(seed)
        self.rng = np.random.RandomState(seed)

    def train(self, updates):
        scores = []
        for w in self.workers:
            for _ in range(updates):
                obs = torch.randn(self.batch, 3, generator=self.gen)
                noise = torch.randn(self.batch, 1, generator=self.gen)
                w.update(obs, noise)
            scores.append(self.score(w.agent))
        return scores

    @torch.no_grad()
    def score(self, agent):
        obs = torch.randn(64, 3, generator=torch.Generator().manual_seed(0))
        a, _ = agent.act(obs, torch.zeros(64, 1))
        return reward(obs, a).mean().item()

    def exploit_and_explore(self, scores):
        """The worst agent becomes a copy of the best one with a perturbed learning rate."""
        worst, best = int(np.argmin(scores)), int(np.argmax(scores))
        w = self.workers[worst]
        w.agent = copy.deepcopy(self.workers[best].agent)
        w.lr = self.workers[best].lr * self.rng.choice([0.8, 1.25])
        w.make_optimizers()
        return worst, best
