# %% [markdown]
# REINFORCE mit Gauss-Politik auf einem 1D-Regler (Notebook-Export)

# %%
import math
import numpy as np
import torch
import torch.nn as nn

np.random.seed(0)
torch.manual_seed(0)

HORIZON   = 15
EPISODES  = 8
GAMMA     = 0.97
LR        = 1e-2

# %% Umgebung (reines numpy)
class Cart:
    """x'' = u - 0.1 x' ; Belohnung = -(x^2 + 0.05 u^2)"""
    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.x = self.rng.uniform(-1, 1)
        self.v = 0.0
        return np.array([self.x, self.v], dtype=np.float32)

    def step(self, u):
        u = float(np.clip(u, -2.0, 2.0)[0])
        self.v += 0.2 * (u - 0.1 * self.v)
        self.x += 0.2 * self.v
        reward = -(self.x ** 2 + 0.05 * u ** 2)
        return np.array([self.x, self.v], dtype=np.float32), reward, abs(self.x) > 3

# %% Politik
class Policy(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.net     = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.log_std = nn.Parameter(torch.full((1,), -0.3))

    def forward(self, obs):
        mean = self.net(obs)
        return mean, self.log_std.exp().expand_as(mean)

def gauss_log_prob(x, mean, std):
    return (-0.5 * ((x - mean) / std) ** 2 - std.log() - 0.5 * math.log(2 * math.pi)).sum(-1)

policy = Policy()
opt    = torch.optim.Adam(policy.parameters(), lr=LR)
env    = Cart(np.random.RandomState(7))

# %% Training
# Likelihood-Ratio-Schätzer:  grad J = E[ grad log pi(a|s) * (G - b) ],  die Umgebung ist eine Blackbox
baseline = 0.0
history  = []

for ep in range(EPISODES):
    obs, rewards, log_probs = env.reset(), [], []
    for t in range(HORIZON):
        mean, std = policy(torch.from_numpy(obs))
        mean      = mean.detach()
        action    = (mean + std * torch.randn_like(mean)).detach()
        log_probs.append(gauss_log_prob(action, mean, std))
        obs, r, done = env.step(action.numpy())
        rewards.append(r)
        if done:
            break

    G, returns = 0.0, []
    for r in reversed(rewards):
        G = r + GAMMA * G
        returns.insert(0, G)
    returns  = torch.tensor(returns, dtype=torch.float32)
    adv      = returns - baseline
    baseline = 0.8 * baseline + 0.2 * returns.mean().item()

    loss = -(torch.stack(log_probs) * adv).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    opt.step()

    history.append(sum(rewards))
    print(f"Episode {ep:2d}  R = {sum(rewards):9.4f}  Verlust = {loss.item():9.6f}")

# %%
print("Mittel der letzten 4: %.5f" % np.mean(history[-4:]))
print("sigma = %.6f   |W| = %.6f" % (policy.log_std.exp().item(), policy.net[0].weight.norm().item()))
