"""Online actor-critic with eligibility traces on a chain walk (Sutton & Barto, ch. 13)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
N, GAMMA, LAM_PI, LAM_V = 7, 0.95, 0.9, 0.8


class Chain:
    """Start in the middle; +1 at the right end, -0.2 at the left end."""

    def reset(self):
        self.s, self.t = N // 2, 0
        return self.obs()

    def obs(self):
        return F.one_hot(torch.tensor(self.s), N).float()

    def step(self, a):
        self.s += 1 if a == 1 else -1
        self.t += 1
        reward, done = -0.01, False
        if self.s == N - 1:
            reward, done = 1.0, True
        elif self.s == 0:
            reward, done = -0.2, True
        return self.obs(), reward, done or self.t >= 25


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(N, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, s):
        return torch.distributions.Categorical(logits=self.net(s))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(N, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, s):
        return self.net(s).squeeze(-1)


def main():
    env, actor, critic = Chain(), Actor(), Critic()
    opt_pi = torch.optim.SGD(actor.parameters(), lr=0.05)
    opt_v = torch.optim.SGD(critic.parameters(), lr=0.05)
    returns = []
    for episode in range(8):
        state, done, total, discount = env.reset(), False, 0.0, 1.0
        trace_pi = 0.0
        trace_v = 0.0
        while not done:
            dist = actor(state)
            action = dist.sample()
            nxt, reward, done = env.step(action.item())
            value = critic(state)
            with torch.no_grad():
                target = reward + (0.0 if done else GAMMA * critic(nxt))
                delta = target - value

            trace_pi = GAMMA * LAM_PI * trace_pi + discount * dist.log_prob(action)
            trace_v = GAMMA * LAM_V * trace_v + value

            opt_pi.zero_grad()
            (-delta * trace_pi).backward(retain_graph=True)
            opt_pi.step()

            opt_v.zero_grad()
            (-delta * trace_v).backward(retain_graph=True)
            opt_v.step()

            discount *= GAMMA
            total += reward
            state = nxt
        returns.append(total)
        print(f"episode {episode} steps {env.t} return {total:.3f}")
    with torch.no_grad():
        print("V", " ".join(f"{critic(F.one_hot(torch.tensor(i), N).float()).item():.4f}" for i in range(N)))


if __name__ == "__main__":
    main()
