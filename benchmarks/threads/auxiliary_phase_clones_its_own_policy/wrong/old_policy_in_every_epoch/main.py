import argparse

import torch

from agent import Agent
from phases import auxiliary_phase, policy_phase

CFG = dict(obs_dim=3, n_actions=3, horizon=16, n_pi=2, e_pi=1, e_v=1, e_aux=4, clip=0.2, beta_s=0.01, beta_clone=3.0, gamma=0.9)


class Drone:
    """Hold the altitude: actions sink, hover, climb."""

    def __init__(self, gen):
        self.gen = gen
        self.reset()

    def reset(self):
        self.h = torch.randn((), generator=self.gen).item()
        self.v = 0.0

    def obs(self):
        return torch.tensor([self.h, self.v, self.h * self.v])

    def step(self, a):
        self.v += 0.2 * (a - 1)
        self.h += self.v + 0.05 * torch.randn((), generator=self.gen).item()
        return -min(abs(self.h), 2.0) / 2.0


@torch.no_grad()
def collect(agent, env, cfg):
    env.reset()
    obs, act, rew = [], [], []
    for _ in range(cfg["horizon"]):
        o = env.obs()
        a = agent.pi(o).sample()
        obs.append(o)
        act.append(a)
        rew.append(env.step(a.item()))
    ret, g = [], 0.0
    for r in reversed(rew):
        g = r + cfg["gamma"] * g
        ret.insert(0, g)
    return dict(obs=torch.stack(obs), act=torch.stack(act), ret=torch.tensor(ret))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--phases", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    agent = Agent(CFG["obs_dim"], CFG["n_actions"])
    env = Drone(torch.Generator().manual_seed(args.seed))
    opt_pi = torch.optim.Adam(agent.policy_parameters(), lr=1e-2)
    opt_v = torch.optim.Adam(agent.vf.parameters(), lr=1e-2)
    for phase in range(args.phases):
        buffer = []
        for _ in range(CFG["n_pi"]):
            rollout = collect(agent, env, CFG)
            loss_pi, loss_v = policy_phase(agent, rollout, opt_pi, opt_v, CFG)
            buffer.append(rollout)
        joint = auxiliary_phase(agent, buffer, opt_pi, opt_v, CFG)
        print(f"phase {phase} pi {loss_pi:.6f} v {loss_v:.6f} joint {joint:.6f}")


if __name__ == "__main__":
    main()
