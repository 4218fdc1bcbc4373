import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class QActor(nn.Module):
    def __init__(self, n_state, n_actions, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_state + n_actions, width), nn.LeakyReLU(0.01),
                                  nn.Linear(width, width), nn.LeakyReLU(0.01), nn.Linear(width, n_actions))

    def forward(self, state, action_parameters):
        return self.body(torch.cat((state, action_parameters), dim=1))


class ParamActor(nn.Module):
    """No squashing at the end, the bounds are kept by inverting gradients (Hausknecht & Stone, 2016)."""

    def __init__(self, n_state, n_actions, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_state, width), nn.LeakyReLU(0.01), nn.Linear(width, n_actions))
        nn.init.normal_(self.body[-1].weight, std=0.05)
        nn.init.zeros_(self.body[-1].bias)

    def forward(self, state):
        return self.body(state)


def soft_update(source, target, tau):
    for s, t in zip(source.parameters(), target.parameters()):
        t.data.copy_(t.data * (1.0 - tau) + s.data * tau)


class PDQNAgent:
    param_low, param_high = -1.0, 1.0

    def __init__(self, n_state, n_actions, args):
        self.n_actions, self.args, self.epsilon = n_actions, args, args.epsilon
        self.actor, self.actor_param = QActor(n_state, n_actions), ParamActor(n_state, n_actions)
        self.actor_target = copy.deepcopy(self.actor).eval()
        self.actor_param_target = copy.deepcopy(self.actor_param).eval()
        self.actor_optimiser = torch.optim.Adam(self.actor.parameters(), lr=args.lr_q)
        self.actor_param_optimiser = torch.optim.Adam(self.actor_param.parameters(), lr=args.lr_param)
        self.rng = np.random.RandomState(args.seed)

    def act(self, state, explore=True):
        with torch.no_grad():
            state = torch.from_numpy(state).unsqueeze(0)
            params = self.actor_param(state)
            act = int(self.actor(state, params).argmax(1))
            params = params.squeeze(0).numpy().copy()
        if explore and self.rng.uniform() < self.epsilon:
            act = self.rng.randint(self.n_actions)
            params = self.rng.uniform(self.param_low, self.param_high, self.n_actions).astype(np.float32)
        return act, params

    def _invert_gradients(self, grad, values):
        """Shrinks the ascent direction towards a bound, turns it round beyond the bound."""
        span = self.param_high - self.param_low
        up = (self.param_high - values) / span
        down = (values - self.param_low) / span
        return torch.where(grad > 0, grad * up, grad * down)

    def optimize(self, batch):
        states, acts, params, rewards, next_states, terminals = batch

        # ---- Q network
        with torch.no_grad():
            next_params = self.actor_param_target(next_states)
            next_q = self.actor_target(next_states, next_params).max(1).values
            target = rewards + self.args.gamma * (1 - terminals) * next_q
        q = self.actor(states, params).gather(1, acts.unsqueeze(1)).squeeze(1)
        loss_q = F.smooth_l1_loss(q, target)
        self.actor_optimiser.zero_grad()
        loss_q.backward()
        nn.utils.clip_grad_norm_(self.actor.parameters(), self.args.clip)
        self.actor_optimiser.step()

        # ---- parameter network
        action_params = self.actor_param(states)
        q_sum = self.actor(states, action_params).sum(1).mean()
        delta_a = torch.autograd.grad(q_sum, action_params)[0]

        action_params = self.actor_param(states)
        self.actor_param_optimiser.zero_grad()
        action_params.backward(-delta_a)
        nn.utils.clip_grad_norm_(self.actor_param.parameters(), self.args.clip)
        self.actor_param_optimiser.step()

        soft_update(self.actor, self.actor_target, self.args.tau)
        soft_update(self.actor_param, self.actor_param_target, self.args.tau)
        return loss_q.item(), delta_a.abs().mean().item()

    def end_episode(self):
        self.epsilon = max(0.05, self.epsilon * 0.95)

    def save(self, path):
        torch.save({"q": self.actor.state_dict(), "params": self.actor_param.state_dict()}, path)
