import math
from collections import namedtuple

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

# MuZero (no tree search here, visit counts come from a fake buffer). hidden states are scaled to [0, 1]
# like in appendix G of the paper.

Batch = namedtuple('Batch', 'obs actions policies values rewards')
SUPPORT = 3


class MuZeroConfig:
    def __init__(self):
        self.seed = 2
        self.observation_size = 7
        self.action_space = 3
        self.encoding_size = 12
        self.num_unroll_steps = 3
        self.batch_size = 16
        self.training_steps = 6
        self.value_loss_weight = 0.25
        self.lr_init = 0.01
        self.weight_decay = 1e-4
        self.momentum = 0.9


def scalar_to_support(x, support_size=SUPPORT):
    x = torch.sign(x) * (torch.sqrt(torch.abs(x) + 1) - 1) + 0.001 * x
    x = torch.clamp(x, -support_size, support_size)
    floor = x.floor()
    prob = x - floor
    logits = torch.zeros(x.shape[0], x.shape[1], 2 * support_size + 1)
    logits.scatter_(2, (floor + support_size).long().unsqueeze(-1), (1 - prob).unsqueeze(-1))
    indexes = floor + support_size + 1
    prob = prob.masked_fill_(2 * support_size < indexes, 0.0)
    indexes = indexes.masked_fill_(2 * support_size < indexes, 0.0)
    logits.scatter_add_(2, indexes.long().unsqueeze(-1), prob.unsqueeze(-1))
    return logits


def mlp(input_size, layer_sizes, output_size, output_activation=nn.Identity):
    sizes = [input_size] + layer_sizes + [output_size]
    layers = []
    for i in range(len(sizes) - 1):
        act = nn.ELU if i < len(sizes) - 2 else output_activation
        layers += [nn.Linear(sizes[i], sizes[i + 1]), act()]
    return nn.Sequential(*layers)


class MuZeroFullyConnectedNetwork(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        full = 2 * SUPPORT + 1
        self.representation_network = mlp(cfg.observation_size, [16], cfg.encoding_size, nn.ReLU)
        self.dynamics_encoded_state_network = mlp(cfg.encoding_size + cfg.action_space, [16], cfg.encoding_size, nn.Sigmoid)
        self.dynamics_reward_network = mlp(cfg.encoding_size, [16], full)
        self.prediction_policy_network = mlp(cfg.encoding_size, [16], cfg.action_space)
        self.prediction_value_network = mlp(cfg.encoding_size, [16], full)

    @staticmethod
    def scale_state(encoded_state):
        lo = encoded_state.min(1, keepdim=True)[0]
        hi = encoded_state.max(1, keepdim=True)[0]
        scale = hi - lo
        scale[scale < 1e-5] += 1e-5
        return (encoded_state - lo) / scale

    def prediction(self, encoded_state):
        return self.prediction_policy_network(encoded_state), self.prediction_value_network(encoded_state)

    def initial_inference(self, observation):
        state = self.scale_state(self.representation_network(observation))
        return (*self.prediction(state), state)

    def recurrent_inference(self, encoded_state, action):
        onehot = F.one_hot(action, self.cfg.action_space).float()
        next_state = self.dynamics_encoded_state_network(torch.cat((encoded_state, onehot), dim=1))
        next_state = self.scale_state(next_state)
        reward = self.dynamics_reward_network(next_state)
        policy, value = self.prediction(next_state)
        return policy, value, reward, next_state


class FakeReplay:
    def __init__(self, cfg):
        self.cfg, self.rng = cfg, np.random.RandomState(cfg.seed)
        self.w = self.rng.normal(size=(cfg.observation_size,))

    def get_batch(self):
        c, K = self.cfg, self.cfg.num_unroll_steps + 1
        obs = self.rng.normal(size=(c.batch_size, c.observation_size))
        actions = self.rng.randint(0, c.action_space, (c.batch_size, K))
        policies = self.rng.dirichlet(np.ones(c.action_space), (c.batch_size, K))
        values = (obs @ self.w)[:, None] * 0.97 ** np.arange(K)
        rewards = 0.5 * (actions == 1) - 0.1
        t = lambda a: torch.tensor(a).float()
        return Batch(t(obs), torch.tensor(actions), t(policies), t(values), t(rewards))


def cross_entropy(logits, target):
    return (-target * F.log_softmax(logits, dim=1)).sum(1)


def update_weights(model, optimizer, batch, cfg):
    target_value, target_reward = scalar_to_support(batch.values), scalar_to_support(batch.rewards)
    policy, value, state = model.initial_inference(batch.obs)
    predictions = [(value, None, policy)]
    for i in range(1, cfg.num_unroll_steps + 1):
        policy, value, reward, state = model.recurrent_inference(state, batch.actions[:, i - 1])
        state.register_hook(lambda grad: grad * 0.5)    # scale the gradient at the start of the dynamics function
        predictions.append((value, reward, policy))

    value_loss, reward_loss, policy_loss = 0, 0, 0
    for i, (value, reward, policy) in enumerate(predictions):
        scale = 1.0 if i == 0 else 1.0 / cfg.num_unroll_steps
        value_loss = value_loss + scale * cross_entropy(value, target_value[:, i])
        policy_loss = policy_loss + scale * cross_entropy(policy, batch.policies[:, i])
        if reward is not None:
            reward_loss = reward_loss + scale * cross_entropy(reward, target_reward[:, i])
    loss = (value_loss * cfg.value_loss_weight + reward_loss + policy_loss).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item(), value_loss.mean().item(), reward_loss.mean().item(), policy_loss.mean().item()


if __name__ == '__main__':
    config = MuZeroConfig()
    torch.manual_seed(config.seed)
    model = MuZeroFullyConnectedNetwork(config)
    opt = torch.optim.SGD(model.parameters(), lr=config.lr_init, momentum=config.momentum, weight_decay=config.weight_decay)
    replay = FakeReplay(config)
    for step in range(config.training_steps):
        out = update_weights(model, opt, replay.get_batch(), config)
        assert math.isfinite(out[0])
        print(f'{step}: total {out[0]:.6f} value {out[1]:.6f} reward {out[2]:.6f} policy {out[3]:.6f}')
