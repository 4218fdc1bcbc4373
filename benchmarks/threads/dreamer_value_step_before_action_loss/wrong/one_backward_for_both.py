"""
Dreamer-like agent, tiny. world model + imagined rollouts + lambda returns.
Structure follows the usual train.py: 1) model update 2) imagination 3) value update 4) action update
"""
import argparse

import torch
import torch.nn as nn
from torch.nn.functional import mse_loss
from torch.nn.utils import clip_grad_norm_


class WorldModel(nn.Module):
    def __init__(self, obs_dim, action_dim, state_dim=12):
        super().__init__()
        self.enc = nn.Linear(obs_dim, state_dim)
        self.cell = nn.GRUCell(action_dim, state_dim)
        self.dec = nn.Linear(state_dim, obs_dim)
        self.rew = nn.Sequential(nn.Linear(state_dim, 16), nn.ELU(), nn.Linear(16, 1))

    def embed(self, obs):
        return torch.tanh(self.enc(obs))

    def step(self, state, action):
        return self.cell(action, state)


class ValueModel(nn.Module):
    def __init__(self, state_dim, hidden=24):
        super().__init__()
        self.fc1 = nn.Linear(state_dim, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)

    def forward(self, s):
        h = nn.functional.elu(self.fc1(s))
        return self.fc3(nn.functional.elu(self.fc2(h)))


class ActionModel(nn.Module):
    def __init__(self, state_dim, action_dim, hidden=24):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(state_dim, hidden), nn.ELU(), nn.Linear(hidden, 2 * action_dim))

    def forward(self, s):
        mean, std = self.fc(s).chunk(2, -1)
        std = nn.functional.softplus(std) + 0.1
        return torch.tanh(mean + std * torch.randn_like(mean))


def lambda_target(rewards, values, gamma, lambda_):
    """rewards, values: (H, B, 1).  V_lambda computed backwards, last value bootstraps."""
    out = []
    last = values[-1]
    for t in reversed(range(rewards.shape[0])):
        nxt = values[t + 1] if t + 1 < values.shape[0] else values[-1]
        last = rewards[t] + gamma * ((1 - lambda_) * nxt + lambda_ * last)
        out.insert(0, last)
    return torch.stack(out)


def get_batch(g, B, T, obs_dim, action_dim):
    obs = torch.randn(T + 1, B, obs_dim, generator=g).cumsum(0) * 0.3
    act = torch.rand(T, B, action_dim, generator=g) * 2 - 1
    rew = -(obs[1:] ** 2).mean(-1, keepdim=True) + 0.1 * act.mean(-1, keepdim=True)
    return obs, act, rew


def main(args):
    torch.manual_seed(args.seed)
    g = torch.Generator().manual_seed(args.seed + 1)
    wm = WorldModel(args.obs, args.act)
    value_model = ValueModel(12)
    action_model = ActionModel(12, args.act)
    model_optimizer = torch.optim.Adam(wm.parameters(), lr=args.model_lr, eps=1e-4)
    value_optimizer = torch.optim.Adam(value_model.parameters(), lr=args.value_lr, eps=1e-4)
    action_optimizer = torch.optim.Adam(action_model.parameters(), lr=args.action_lr, eps=1e-4)

    for update_step in range(args.collect_interval):
        obs, act, rew = get_batch(g, args.batch_size, args.chunk, args.obs, args.act)

        # ---- world model
        state = wm.embed(obs[0])
        model_loss, states = 0.0, []
        for t in range(args.chunk):
            state = wm.step(state, act[t])
            states.append(state)
            model_loss = model_loss + mse_loss(wm.dec(state), obs[t + 1]) + mse_loss(wm.rew(state), rew[t])
        model_optimizer.zero_grad()
        model_loss.backward()
        clip_grad_norm_(wm.parameters(), args.clip_grad_norm)
        model_optimizer.step()

        # ---- imagination, from every posterior state of the chunk
        s = torch.cat(states).detach()
        imaginated = []
        for h in range(args.horizon):
            s = wm.step(s, action_model(s))
            imaginated.append(s)
        imaginated = torch.stack(imaginated)
        imaginated_rewards = wm.rew(imaginated)
        imaginated_values = value_model(imaginated)
        lambda_target_values = lambda_target(imaginated_rewards, imaginated_values, args.gamma, args.lambda_)

        # ---- update value model
        value_loss = 0.5 * mse_loss(imaginated_values, lambda_target_values.detach())
        value_optimizer.zero_grad()

        # ---- update action model (multiply -1 for gradient ascent)
        action_loss = -1 * lambda_target_values.mean()
        action_optimizer.zero_grad()
        (value_loss + action_loss).backward()
        clip_grad_norm_(value_model.parameters(), args.clip_grad_norm)
        value_optimizer.step()
        clip_grad_norm_(action_model.parameters(), args.clip_grad_norm)
        action_optimizer.step()

        print('update_step: %3d model loss: %.5f, value_loss: %.5f, action_loss: %.5f'
              % (update_step + 1, model_loss.item(), value_loss.item(), action_loss.item()))


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description='Dreamer for toy control')
    parser.add_argument('--seed', type=int, default=2)
    parser.add_argument('--obs', type=int, default=6)
    parser.add_argument('--act', type=int, default=2)
    parser.add_argument('-B', '--batch_size', type=int, default=8)
    parser.add_argument('-L', '--chunk', type=int, default=5)
    parser.add_argument('-H', '--horizon', type=int, default=4)
    parser.add_argument('--gamma', type=float, default=0.9)
    parser.add_argument('--lambda_', type=float, default=0.95)
    parser.add_argument('--model_lr', type=float, default=6e-3)
    parser.add_argument('--value_lr', type=float, default=8e-3)
    parser.add_argument('--action_lr', type=float, default=8e-3)
    parser.add_argument('--clip_grad_norm', type=int, default=100)
    parser.add_argument('-C', '--collect_interval', type=int, default=6)
    main(parser.parse_args())
