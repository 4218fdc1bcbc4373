import argparse

import torch

from combo.buffer import fake_rollouts, make_dataset, mix
from combo.nets import Critic, TanhActor
from combo.policy import COMBOPolicy


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=24)
    parser.add_argument("--actor-lr", type=float, default=1e-3)
    parser.add_argument("--critic-lr", type=float, default=3e-3)
    parser.add_argument("--cql-weight", type=float, default=2.0)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--num-repeat-actions", type=int, default=5)
    parser.add_argument("--real-ratio", type=float, default=0.5)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epoch", type=int, default=4)
    parser.add_argument("--step-per-epoch", type=int, default=6)
    return parser.parse_args()


def train(args=get_args()):
    torch.manual_seed(args.seed)
    obs_dim, action_dim = 5, 2

    real = make_dataset(400, obs_dim, action_dim)
    actor = TanhActor(obs_dim, action_dim, args.hidden)
    critic1 = Critic(obs_dim, action_dim, args.hidden)
    critic2 = Critic(obs_dim, action_dim, args.hidden)

    policy = COMBOPolicy(
        actor,
        critic1,
        critic2,
        torch.optim.Adam(actor.parameters(), lr=args.actor_lr),
        torch.optim.Adam(critic1.parameters(), lr=args.critic_lr),
        torch.optim.Adam(critic2.parameters(), lr=args.critic_lr),
        cql_weight=args.cql_weight,
        temperature=args.temperature,
        num_repeat_actions=args.num_repeat_actions,
    )

    for e in range(1, args.epoch + 1):
        fake = fake_rollouts(policy, real, 64)
        totals = {}
        for _ in range(args.step_per_epoch):
            n_real = int(args.batch_size * args.real_ratio)
            batch = mix(real.sample(n_real), fake.sample(args.batch_size - n_real))
            for k, v in policy.learn(batch).items():
                totals[k] = totals.get(k, 0.0) + v
        print(f"epoch {e}: " + "  ".join(f"{k} {v / args.step_per_epoch:.5f}" for k, v in totals.items()))


if __name__ == "__main__":
    train()
