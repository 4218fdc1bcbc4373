"""FeUdal network: a manager sets directions in its state space, a worker acts to follow them."""
import argparse

import torch

from env import PointWorld
from losses import manager_loss, worker_loss
from nets import Manager, Worker


def run_episode(env, manager, worker, horizon):
    """Plays one episode and keeps what both levels need for their updates."""
    ep = {"goals": [], "states": [], "logps": [], "rewards": [], "values": []}
    obs = env.reset()
    for t in range(env.length):
        state, goal, value = manager(obs)
        if t % horizon != 0:
            goal = ep["goals"][-1]
        dist = worker(obs, goal.detach())
        action = dist.sample()
        ep["goals"].append(goal)
        ep["states"].append(state)
        ep["values"].append(value)
        ep["logps"].append(dist.log_prob(action))
        obs, reward = env.step(action)
        ep["rewards"].append(reward)
    return {k: torch.stack(v) for k, v in ep.items()}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=8)
    p.add_argument("--horizon", type=int, default=3)
    p.add_argument("--gamma-m", type=float, default=0.98)
    p.add_argument("--gamma-w", type=float, default=0.9)
    p.add_argument("--alpha", type=float, default=0.5, help="weight of the intrinsic reward")
    p.add_argument("--seed", type=int, default=2)
    args = p.parse_args()

    torch.manual_seed(args.seed)
    env = PointWorld(n=6, length=9)
    manager, worker = Manager(env.obs_dim, 8), Worker(env.obs_dim, 8, env.n_actions)
    m_opt = torch.optim.RMSprop(manager.parameters(), lr=2e-3)
    w_opt = torch.optim.RMSprop(worker.parameters(), lr=4e-3)

    for i in range(args.episodes):
        ep = run_episode(env, manager, worker, args.horizon)

        m_opt.zero_grad()
        w_opt.zero_grad()
        loss_w = worker_loss(ep, args.horizon, args.gamma_w, args.alpha)
        loss_m = manager_loss(ep, args.horizon, args.gamma_m)
        loss_w.backward()
        loss_m.backward()
        w_opt.step()
        m_opt.step()
        print(f"episode {i} return {ep['rewards'].sum(0).mean().item():.4f} "
              f"worker {loss_w.item():.5f} manager {loss_m.item():.5f}")


if __name__ == "__main__":
    main()
