import torch as th
from torch.distributions import Categorical


def build_gae_targets(rewards, masks, values, gamma, lam):
    B, T, _ = rewards.size()
    adv = rewards.new_zeros(B, rewards.size(2))
    advs = []
    for t in reversed(range(T)):
        delta = rewards[:, t] + gamma * values[:, t + 1] * masks[:, t] - values[:, t]
        adv = delta + gamma * lam * masks[:, t] * adv
        advs.append(adv)
    advs = th.stack(advs[::-1], dim=1)
    return advs, advs + values[:, :-1]


class PPOLearner:
    def __init__(self, mac, critic, args):
        self.mac, self.critic, self.args = mac, critic, args
        self.params = list(mac.agent.parameters()) + list(critic.parameters())
        self.optimiser = th.optim.Adam(self.params, lr=args.lr, eps=1e-5)

    def train(self, batch):
        args = self.args
        rewards, actions = batch["reward"], batch["actions"]
        masks = 1.0 - batch["terminated"]

        with th.no_grad():
            old_log_pac = Categorical(logits=self.mac.unroll(batch["obs"])).log_prob(actions)

        # 优势只算一次, 每个 mini epoch 共用
        values = self.critic(batch["state"])
        advantages, targets = build_gae_targets(rewards.unsqueeze(-1).expand(-1, -1, args.n_agents), masks.unsqueeze(-1), values, args.gamma, args.gae_lambda)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
        targets = targets.detach()

        stats = {}
        for epoch in range(args.mini_epochs):
            dist = Categorical(logits=self.mac.unroll(batch["obs"]))
            ratios = th.exp(dist.log_prob(actions) - old_log_pac)
            surr1 = ratios * advantages
            surr2 = th.clamp(ratios, 1 - args.eps_clip, 1 + args.eps_clip) * advantages
            actor_loss = -th.min(surr1, surr2).mean() - args.entropy_coef * dist.entropy().mean()

            new_values = self.critic(batch["state"])[:, :-1]
            critic_loss = (new_values - targets).pow(2).mean()

            loss = actor_loss + args.critic_coef * critic_loss
            self.optimiser.zero_grad()
            loss.backward()
            grad_norm = th.nn.utils.clip_grad_norm_(self.params, args.grad_norm_clip)
            self.optimiser.step()
            stats = dict(actor=actor_loss.item(), critic=critic_loss.item(), norm=float(grad_norm))
        return stats
