from copy import deepcopy

import torch
from torch import nn
from torch.nn import functional as F


def mlp(i, o, out=nn.Identity):
    return nn.Sequential(nn.Linear(i, 20), nn.ReLU(), nn.Linear(20, o), out())


class TD3Loss(nn.Module):
    def __init__(self, actor, q1, q2, gamma=0.9):
        super().__init__()
        self.actor, self.q1, self.q2, self.gamma = actor, q1, q2, gamma
        self.tq1, self.tq2 = deepcopy(q1).requires_grad_(False), deepcopy(q2).requires_grad_(False)

    def forward(self, batch):
        n = len(batch["obs"])
        both = torch.cat([batch["obs"], batch["next_obs"]])
        actions = self.actor(both)  # one pass for both
        now, nxt = actions[:n], actions[n:]
        noise = (0.1 * batch["noise"]).clamp(-0.2, 0.2)
        nxt = (nxt + noise).clamp(-1, 1)
        sa2 = torch.cat([batch["next_obs"], nxt], 1)
        q_next = torch.min(self.tq1(sa2), self.tq2(sa2))
        target = batch["reward"] + self.gamma * q_next

        sa = torch.cat([batch["obs"], batch["action"]], 1)
        loss_qvalue = F.mse_loss(self.q1(sa), target) + F.mse_loss(self.q2(sa), target)
        frozen = deepcopy(self.q1).requires_grad_(False)
        loss_actor = -frozen(torch.cat([batch["obs"], now], 1)).mean()
        return {"loss_actor": loss_actor, "loss_qvalue": loss_qvalue}


def make_batch(n=24):
    obs, act = torch.randn(n, 3), torch.rand(n, 1) * 2 - 1
    nxt = obs + 0.3 * act + 0.05 * torch.randn(n, 3)
    return dict(obs=obs, action=act, next_obs=nxt, reward=-nxt.pow(2).sum(1, keepdim=True), noise=torch.randn(n, 1))


torch.manual_seed(1187)
loss_fn = TD3Loss(mlp(3, 1, nn.Tanh), mlp(4, 1), mlp(4, 1))
optim_actor = torch.optim.Adam(loss_fn.actor.parameters(), lr=5e-3)
optim_q = torch.optim.Adam([*loss_fn.q1.parameters(), *loss_fn.q2.parameters()], lr=5e-3)
for i in range(6):
    loss = loss_fn(make_batch())
    optim_actor.zero_grad()
    optim_q.zero_grad()
    loss["loss_actor"].backward(retain_graph=True)
    loss["loss_qvalue"].backward()
    optim_actor.step()
    optim_q.step()
print(f"{loss['loss_actor'].item():.6f} {loss['loss_qvalue'].item():.6f}")
