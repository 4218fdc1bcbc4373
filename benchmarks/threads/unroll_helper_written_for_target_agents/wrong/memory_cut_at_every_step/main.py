from argparse import ArgumentParser

import torch as th

from q_learner import QLearner
from vdn_nets import RecurrentQ, VDNMixer


def episodes(B, T, N, D, A, gen):
    obs = th.randn(B, T + 1, N, D, generator=gen)
    actions = th.randint(0, A, (B, T, N), generator=gen)
    reward = (actions == (obs[:, :-1, :, 0] > 0).long()).float().mean(2, keepdim=True)
    length = th.randint(2, T + 1, (B, 1), generator=gen)
    steps = th.arange(T).unsqueeze(0)
    filled = (steps < length).float().unsqueeze(2)
    terminated = (steps == length - 1).float().unsqueeze(2)
    return dict(obs=obs, actions=actions, reward=reward, filled=filled, terminated=terminated)


if __name__ == "__main__":
    ap = ArgumentParser()
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--optim_alpha", type=float, default=0.99)
    ap.add_argument("--optim_eps", type=float, default=1e-5)
    ap.add_argument("--gamma", type=float, default=0.95)
    ap.add_argument("--grad_norm_clip", type=float, default=10)
    ap.add_argument("--double_q", type=int, default=1)
    ap.add_argument("--target_update_interval", type=int, default=3)
    ap.add_argument("--t_max", type=int, default=6)
    args = ap.parse_args()
    th.manual_seed(15)
    gen = th.Generator().manual_seed(16)
    learner = QLearner(RecurrentQ(5, 3), VDNMixer(), args)
    for ep in range(args.t_max):
        loss, norm, q = learner.train(episodes(4, 5, 2, 5, 3, gen), ep)
        print(f"episode {ep} loss {loss:.5f} grad_norm {norm:.4f} q_taken_mean {q:.5f}")
