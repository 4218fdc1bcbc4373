# REINFORCE con una mezcla uniforme para que ninguna accion muera
import argparse
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class Corredor:
    """Pasillo de una dimension: hay que llegar a la derecha. Entorno de juguete."""

    def __init__(self, largo=6, limite=12):
        self.largo, self.limite = largo, limite

    def reset(self):
        self.pos, self.t = 1, 0
        return self._obs()

    def _obs(self):
        o = torch.zeros(self.largo)
        o[self.pos] = 1.0
        return o

    def step(self, a):
        self.t += 1
        self.pos = min(self.largo - 1, max(0, self.pos + (-1, 0, 1)[a]))
        fin = self.pos == self.largo - 1
        r = 1.0 if fin else -0.05
        return self._obs(), r, fin or self.t >= self.limite


class Policy(nn.Module):
    def __init__(self, n_obs, n_act, hidden=16):
        super().__init__()
        self.affine1 = nn.Linear(n_obs, hidden)
        self.affine2 = nn.Linear(hidden, n_act)

    def forward(self, x):
        return self.affine2(torch.tanh(self.affine1(x)))


class Agent:
    def __init__(self, args, env):
        self.args, self.env = args, env
        self.policy = Policy(env.largo, 3)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=args.lr)
        self.baseline = deque(maxlen=20)
        self.saved, self.rewards = [], []

    def distribution(self, obs):
        """pi = (1 - eps) * softmax + eps * uniforme; la politica que se entrena es la mezcla entera"""
        probs = F.softmax(self.policy(obs), dim=-1).clone()
        probs *= 1.0 - self.args.eps
        probs += self.args.eps / probs.size(-1)
        return Categorical(probs)

    def select_action(self, obs):
        m = self.distribution(obs)
        a = m.sample()
        self.saved.append(m.log_prob(a))
        return a.item()

    def returns(self):
        R, out = 0.0, []
        for r in reversed(self.rewards):
            R = r + self.args.gamma * R
            out.insert(0, R)
        return torch.tensor(out)

    def finish_episode(self):
        G = self.returns()
        b = sum(self.baseline) / len(self.baseline) if self.baseline else 0.0
        self.baseline.append(G[0].item())
        loss = -(torch.stack(self.saved) * (G - b)).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        total = sum(self.rewards)
        self.saved, self.rewards = [], []
        return loss.item(), total


def main():
    parser = argparse.ArgumentParser(description="pasillo")
    parser.add_argument("--gamma", type=float, default=0.97)
    parser.add_argument("--eps", type=float, default=0.3)
    parser.add_argument("--lr", type=float, default=0.03)
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--render", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(543)

    env = Corredor()
    agent = Agent(args, env)
    for ep in range(args.episodes):
        obs, done = env.reset(), False
        while not done:
            obs, r, done = env.step(agent.select_action(obs))
            agent.rewards.append(r)
        loss, total = agent.finish_episode()
        print("episodio %d  perdida %.5f  retorno %.2f" % (ep, loss, total))


if __name__ == "__main__":
    main()
