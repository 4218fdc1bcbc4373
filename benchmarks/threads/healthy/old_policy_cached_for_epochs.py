# PPO as it is meant: the rollout under no_grad once, several epochs on it.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(20)
pi, v = nn.Linear(4, 3), nn.Linear(4, 1)
opt = torch.optim.Adam([*pi.parameters(), *v.parameters()], lr=1e-2)
for it in range(2):
    obs = torch.randn(32, 4)
    with torch.no_grad():
        dist = Categorical(logits=pi(obs))
        act = dist.sample()
        old = dist.log_prob(act)
        ret = (act == obs[:, :3].argmax(1)).float()
        adv = ret - v(obs).squeeze(1)
    for _ in range(3):
        ratio = (Categorical(logits=pi(obs)).log_prob(act) - old).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean() + 0.5 * F.mse_loss(v(obs).squeeze(1), ret)
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"{loss.item():.6f}")
