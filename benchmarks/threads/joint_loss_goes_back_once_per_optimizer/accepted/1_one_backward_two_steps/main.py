import argparse
from collections import deque

import numpy as np
import torch
import torch.optim as optim

from env import ReacherEnv
from model import Actor, Critic
from train_model import train_actor_critic
from utils import get_action

parser = argparse.ArgumentParser(description='PyTorch PPO for a one-joint reacher')
parser.add_argument('--gamma', type=float, default=0.98)
parser.add_argument('--lamda', type=float, default=0.95)
parser.add_argument('--hidden_size', type=int, default=32)
parser.add_argument('--learning_rate', type=float, default=1e-3)
parser.add_argument('--l2_rate', type=float, default=1e-3)
parser.add_argument('--clip_param', type=float, default=0.2)
parser.add_argument('--ppo_update_num', type=int, default=3)
parser.add_argument('--batch_size', type=int, default=64)
parser.add_argument('--total_sample_size', type=int, default=192)
parser.add_argument('--max_iter_num', type=int, default=4)
parser.add_argument('--seed', type=int, default=500)
args = parser.parse_args()


def main():
    env = ReacherEnv(args.seed)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)

    actor = Actor(env.num_inputs, env.num_actions, args)
    critic = Critic(env.num_inputs, args)

    actor_optim = optim.Adam(actor.parameters(), lr=args.learning_rate)
    critic_optim = optim.Adam(critic.parameters(), lr=args.learning_rate,
                              weight_decay=args.l2_rate)

    for iter in range(args.max_iter_num):
        actor.eval(), critic.eval()
        memory = deque()
        scores = []
        steps = 0

        while steps < args.total_sample_size:
            state = env.reset()
            score = 0
            done = False
            while not done:
                steps += 1
                mu, std = actor(torch.Tensor(state).unsqueeze(0))
                action = get_action(mu, std)[0]
                next_state, reward, done = env.step(action)
                mask = 0 if done else 1
                memory.append([state, action, reward, mask])
                score += reward
                state = next_state
            scores.append(score)

        actor.train(), critic.train()
        loss, value_loss = train_actor_critic(actor, critic, memory, actor_optim, critic_optim, args)
        print('iter %d: %d episodes, mean score %.3f, loss %.4f, value loss %.4f'
              % (iter, len(scores), np.mean(scores), loss, value_loss))


if __name__ == '__main__':
    main()
