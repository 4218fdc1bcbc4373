# -*- coding: utf-8 -*-
"""On-policy ACER (discrete) with the efficient trust region, on a row of cliff worlds."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


class RowWorld:
  """n copies of a little corridor: walk right to the goal (+1), fall off on the left (-1), 5 % of the moves slip"""

  def __init__(self, n, size, generator):
    self.n, self.size, self.g = n, size, generator
    self.pos = torch.full((n,), size // 2)

  def state(self):
    return F.one_hot(self.pos, self.size).float()

  def step(self, action):
    slip = torch.rand(self.n, generator=self.g) < 0.05
    move = torch.tensor([-1, 0, 1])[action]
    move = torch.where(slip, -move, move)
    self.pos = (self.pos + move).clamp(0, self.size - 1)
    reward = (self.pos == self.size - 1).float() - (self.pos == 0).float() - 0.02
    done = (self.pos == self.size - 1) | (self.pos == 0)
    self.pos = torch.where(done, torch.full_like(self.pos, self.size // 2), self.pos)
    return self.state(), reward.unsqueeze(1), done.float().unsqueeze(1)


class ActorCritic(nn.Module):
  def __init__(self, observation_size, action_size, hidden_size):
    super().__init__()
    self.fc1 = nn.Linear(observation_size, hidden_size)
    self.fc_actor = nn.Linear(hidden_size, action_size)
    self.fc_critic = nn.Linear(hidden_size, action_size)

  def forward(self, x):
    x = torch.tanh(self.fc1(x))
    policy = F.softmax(self.fc_actor(x), dim=1).clamp(min=1e-6)
    Q = self.fc_critic(x)
    V = (Q * policy).sum(1, keepdim=True)  # V is expectation of Q under π
    return policy, Q, V


# z* = g - max(0, (k^T∙g - δ) / ||k||^2_2)∙k  (per state)
def _trust_region(g, k, threshold):
  k_dot_g = (k * g).sum(-1, keepdim=True)
  k_dot_k = (k * k).sum(-1, keepdim=True)
  trust_factor = ((k_dot_g - threshold) / (k_dot_k + 1e-10)).clamp(min=0)
  return g - trust_factor * k, (trust_factor > 0).float().mean().item()


# Trains model
def _train(args, model, average_model, optimiser, policies, Qs, Vs, average_policies, actions, rewards, dones, Qret):
  pi = torch.stack(policies)  # statistics φ of the policy: T x batch x actions
  pi_avg = torch.stack(average_policies)
  policy_loss, value_loss = 0, 0

  # Calculate n-step returns in forward view, stepping backwards from the last state
  for i in reversed(range(len(rewards))):
    # Qret ← r_i + γQret
    Qret = rewards[i] + args.discount * (1 - dones[i]) * Qret
    # Advantage A ← Qret - V(s_i; θ)
    A = (Qret - Vs[i]).detach()
    # Log policy log(π(a_i|s_i; θ))
    log_prob = policies[i].gather(1, actions[i]).log()
    policy_loss -= (log_prob * A).sum()
    # Entropy regularisation
    policy_loss -= args.entropy_weight * -(policies[i].log() * policies[i]).sum()
    # Value update
    Q = Qs[i].gather(1, actions[i])
    value_loss += ((Qret - Q) ** 2 / 2).mean()
    # Qret ← Qret - Q + V, ρ = 1 on-policy
    Qret = Qret - Q.detach() + Vs[i].detach()

  # g ← -∇φ loss,  k ← ∇φ DKL[π(∙|s; θ_a) || π(∙|s; θ)]
  kl = (pi_avg * (pi_avg.log() - pi.log())).sum()
  g, = torch.autograd.grad(-policy_loss, pi, allow_unused=True)
  if g is None:
    g = torch.zeros_like(pi)
  k, = torch.autograd.grad(kl, pi)
  z, limited = _trust_region(g, k, args.trust_region_threshold)

  optimiser.zero_grad()
  value_loss.backward(retain_graph=True)  # the policy shares fc1
  pi.backward(-z / pi.size(1))
  nn.utils.clip_grad_norm_(model.parameters(), args.max_gradient_norm)
  optimiser.step()

  # Update average_model
  with torch.no_grad():
    for param, average_param in zip(model.parameters(), average_model.parameters()):
      average_param.mul_(args.trust_region_decay).add_(param, alpha=1 - args.trust_region_decay)
  return policy_loss.item() / pi.size(1), value_loss.item(), kl.item() / pi.size(1), limited


if __name__ == '__main__':
  parser = argparse.ArgumentParser(description='ACER')
  parser.add_argument('--seed', type=int, default=123)
  parser.add_argument('--updates', type=int, default=120)
  parser.add_argument('--t-max', type=int, default=8)
  parser.add_argument('--envs', type=int, default=16)
  parser.add_argument('--hidden-size', type=int, default=24)
  parser.add_argument('--discount', type=float, default=0.95)
  parser.add_argument('--entropy-weight', type=float, default=0.01)
  parser.add_argument('--trust-region-decay', type=float, default=0.95)
  parser.add_argument('--trust-region-threshold', type=float, default=0.2)
  parser.add_argument('--max-gradient-norm', type=float, default=10)
  parser.add_argument('--lr', type=float, default=0.01)
  args = parser.parse_args()

  torch.manual_seed(args.seed)
  env = RowWorld(args.envs, 7, torch.Generator().manual_seed(args.seed))
  model = ActorCritic(7, 3, args.hidden_size)
  average_model = ActorCritic(7, 3, args.hidden_size)
  average_model.load_state_dict(model.state_dict())
  for param in average_model.parameters():
    param.requires_grad = False
  optimiser = torch.optim.RMSprop(model.parameters(), lr=args.lr)

  state, reward_sum = env.state(), 0
  for update in range(1, args.updates + 1):
    policies, Qs, Vs, average_policies, actions, rewards, dones = [], [], [], [], [], [], []
    for _ in range(args.t_max):
      policy, Q, V = model(state)
      average_policy, _, _ = average_model(state)
      action = torch.multinomial(policy, 1)
      state, reward, done = env.step(action.squeeze(1))
      [arr.append(el) for arr, el in zip((policies, Qs, Vs, average_policies, actions, rewards, dones),
                                         (policy, Q, V, average_policy, action, reward, done))]
      reward_sum += reward.mean().item()
    with torch.no_grad():
      Qret = model(state)[2]
    stats = _train(args, model, average_model, optimiser, policies, Qs, Vs, average_policies, actions, rewards, dones, Qret)
    if update % 20 == 0:
      print('update %d reward %.6f policy %.6f value %.6f kl %.6f limited %.6f' % ((update, reward_sum / 20) + stats))
      reward_sum = 0
