# On-policy GRPO: the ratio is always 1, its gradient is not; the difference of two equal values is meant.
import torch
import torch.nn as nn

torch.manual_seed(5)
policy = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 5))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)
for it in range(6):
    obs = torch.randn(6, 4).repeat_interleave(4, 0)
    dist = torch.distributions.Categorical(logits=policy(obs))
    act = dist.sample()
    reward = (act == obs[:, :4].argmax(1)).float().view(6, 4)
    adv = ((reward - reward.mean(1, keepdim=True)) / (reward.std(1, keepdim=True) + 1e-4)).flatten()
    logp = dist.log_prob(act)
    ratio = (logp - logp.detach()).exp()
    loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean() - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f} {policy[0].weight.norm().item():.6f}")
