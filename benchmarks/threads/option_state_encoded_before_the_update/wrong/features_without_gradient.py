import argparse
from collections import deque
from copy import deepcopy
import random

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Bernoulli, Categorical

parser = argparse.ArgumentParser(description="Option Critic PyTorch")
parser.add_argument("--learning-rate", type=float, default=.005)
parser.add_argument("--gamma", type=float, default=.95)
parser.add_argument("--num-options", type=int, default=2)
parser.add_argument("--termination-reg", type=float, default=0.01)
parser.add_argument("--entropy-reg", type=float, default=0.01)
parser.add_argument("--epsilon", type=float, default=0.1)
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--update-frequency", type=int, default=4)
parser.add_argument("--freeze-interval", type=int, default=10)
parser.add_argument("--max_steps_total", type=int, default=30)
parser.add_argument("--seed", type=int, default=0)


class Corridor:
    def __init__(self, n=5):
        self.n = n

    def obs(self):
        return np.eye(self.n, dtype=np.float32)[self.pos]

    def reset(self):
        self.pos = 0
        return self.obs()

    def step(self, action):
        self.pos = min(max(self.pos + (1 if action == 1 else -1), 0), self.n - 1)
        done = self.pos == self.n - 1
        return self.obs(), 1.0 if done else -0.01, done


class OptionCriticFeatures(nn.Module):
    def __init__(self, in_features, num_actions, num_options):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(in_features, 32), nn.Tanh(), nn.Linear(32, 16), nn.Tanh())
        self.Q = nn.Linear(16, num_options)
        self.terminations = nn.Linear(16, num_options)
        self.options_W = nn.Parameter(torch.randn(num_options, 16, num_actions) * 0.1)
        self.options_b = nn.Parameter(torch.zeros(num_options, num_actions))

    def get_state(self, obs):
        return self.features(obs if obs.dim() > 1 else obs[None])

    def get_terminations(self, state):
        return self.terminations(state).sigmoid()

    def predict_option_termination(self, state, option):
        beta = self.get_terminations(state)[:, option]
        return bool(Bernoulli(beta.detach()).sample().item()), self.Q(state).argmax(-1).item()

    def get_action(self, state, option):
        dist = Categorical(logits=state @ self.options_W[option] + self.options_b[option])
        a = dist.sample()
        return a.item(), dist.log_prob(a), dist.entropy()


def to_tensor(obs):
    return torch.as_tensor(np.asarray(obs), dtype=torch.float32)


def critic_loss_fn(model, prime, batch, args):
    obs, o, r, nxt, d = (np.stack(x) for x in zip(*batch))
    o, r, d = torch.as_tensor(o), to_tensor(r), to_tensor(d)
    idx = torch.arange(len(o))
    with torch.no_grad():
        q_next = prime.Q(prime.get_state(to_tensor(nxt)))
        beta = model.get_terminations(model.get_state(to_tensor(nxt)))[idx, o]
        gt = r + (1 - d) * args.gamma * ((1 - beta) * q_next[idx, o] + beta * q_next.max(-1)[0])
    return (model.Q(model.get_state(to_tensor(obs)))[idx, o] - gt).pow(2).mul(0.5).mean()


def actor_loss_fn(state, option, logp, entropy, reward, done, next_state, next_prime, model, prime, args):
    beta = model.get_terminations(state)[:, option]
    next_beta = model.get_terminations(next_state)[:, option].detach()
    Q = model.Q(state).detach().squeeze()
    next_Q = prime.Q(next_prime).detach().squeeze()
    gt = reward + (1 - done) * args.gamma * ((1 - next_beta) * next_Q[option] + next_beta * next_Q.max())
    termination_loss = beta * (Q[option] - Q.max() + args.termination_reg) * (1 - done)
    policy_loss = -logp * (gt - Q[option]) - args.entropy_reg * entropy
    return (termination_loss + policy_loss).sum()


def run(args):
    random.seed(args.seed), np.random.seed(args.seed), torch.manual_seed(args.seed)
    env = Corridor()
    model = OptionCriticFeatures(env.n, 2, args.num_options)
    prime = deepcopy(model)
    optim = torch.optim.RMSprop(model.parameters(), lr=args.learning_rate)
    buffer, steps = deque(maxlen=100), 0
    while steps < args.max_steps_total:
        obs, done, option, rewards = env.reset(), False, 0, 0.0
        state = model.get_state(to_tensor(obs))
        termination, greedy_option = True, model.Q(state).argmax(-1).item()
        while not done and steps < args.max_steps_total:
            if termination:
                option = np.random.choice(args.num_options) if np.random.rand() < args.epsilon else greedy_option
            state = state.detach()
            action, logp, entropy = model.get_action(state, option)
            next_obs, reward, done = env.step(action)
            buffer.append((obs, option, reward, next_obs, float(done)))
            rewards += reward

            # one encoding of the next observation serves the target, the termination and the next step
            next_state = model.get_state(to_tensor(next_obs))
            termination, greedy_option = model.predict_option_termination(next_state, option)

            if len(buffer) > args.batch_size:
                loss = actor_loss_fn(state, option, logp, entropy, reward, done, next_state,
                                     prime.get_state(to_tensor(next_obs)), model, prime, args)
                if steps % args.update_frequency == 0:
                    loss = loss + critic_loss_fn(model, prime, random.sample(buffer, args.batch_size), args)
                optim.zero_grad()
                loss.backward()
                optim.step()
                if steps % args.freeze_interval == 0:
                    prime.load_state_dict(model.state_dict())
                print("step %d loss %.6f" % (steps, loss.item()))
            state, obs = next_state, next_obs
            steps += 1
        print("episode reward %.4f" % rewards)


if __name__ == "__main__":
    run(parser.parse_args())
