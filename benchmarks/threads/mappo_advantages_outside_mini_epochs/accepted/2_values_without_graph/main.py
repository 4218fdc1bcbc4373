from types import SimpleNamespace as SN

import torch as th

from modules import MAC, CentralVCritic, RNNAgent
from ppo_learner import PPOLearner

args = SN(n_agents=3, obs_dim=5, state_dim=9, n_actions=4, hidden=16, lr=2e-3, gamma=0.95, gae_lambda=0.9, mini_epochs=4,
          eps_clip=0.2, entropy_coef=0.01, critic_coef=0.5, grad_norm_clip=10.0, t_max=6, batch_size=4, n_updates=3, name="mappo_lite")


def collect(mac, gen):
    """random 'environment': reward if the agents pick the sign of what they see"""
    B, T = args.batch_size, args.t_max
    obs = th.randn(B, T, args.n_agents, args.obs_dim, generator=gen)
    with th.no_grad():
        probs = mac.unroll(obs).softmax(-1)
    actions = th.multinomial(probs.view(-1, args.n_actions), 1, generator=gen).view(B, T, args.n_agents)
    reward = ((actions > 1) == (obs[..., 0] > 0)).float().mean(-1)
    terminated = (th.rand(B, T, generator=gen) < 0.1).float()
    return {"obs": obs, "state": th.randn(B, T + 1, args.state_dim, generator=gen), "actions": actions, "reward": reward, "terminated": terminated}


def run():
    th.manual_seed(8)
    gen = th.Generator().manual_seed(21)
    mac = MAC(RNNAgent(args.obs_dim, args.n_actions, args.hidden))
    learner = PPOLearner(mac, CentralVCritic(args.state_dim, args.n_agents, 32), args)
    for i in range(args.n_updates):
        s = learner.train(collect(mac, gen))
        print(f"{args.name} t={i} actor {s['actor']:.5f} critic {s['critic']:.5f} norm {s['norm']:.4f}")


if __name__ == "__main__":
    run()
