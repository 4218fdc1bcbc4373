import argparse

import torch
import torch.optim as optim

from envs import VecReach
from model import ActorCritic
from storage import RolloutStorage


def get_args():
    parser = argparse.ArgumentParser(description='A2C')
    parser.add_argument('--lr', type=float, default=7e-3)
    parser.add_argument('--gamma', type=float, default=0.95)
    parser.add_argument('--num-steps', type=int, default=5)
    parser.add_argument('--num-processes', type=int, default=8)
    parser.add_argument('--num-updates', type=int, default=24)
    parser.add_argument('--value-loss-coef', type=float, default=0.5)
    parser.add_argument('--entropy-coef', type=float, default=0.01)
    parser.add_argument('--max-grad-norm', type=float, default=0.5)
    parser.add_argument('--seed', type=int, default=5)
    return parser.parse_args()


def main():
    args = get_args()
    torch.manual_seed(args.seed)

    envs = VecReach(args.num_processes)
    agent = ActorCritic(envs.obs_size, envs.num_actions)
    optimizer = optim.RMSprop(agent.parameters(), lr=args.lr, eps=1e-5)
    rollouts = RolloutStorage(args.num_steps, args.num_processes)

    obs = envs.reset()
    for j in range(args.num_updates):
        for step in range(args.num_steps):
            value, action, log_prob, entropy = agent.act(obs)
            obs, reward, mask = envs.step(action)
            rollouts.insert(step, value, log_prob, entropy, reward, mask)

        with torch.no_grad():
            next_value = agent.get_value(obs)
        returns = rollouts.compute_returns(next_value, args.gamma)

        advantages = returns - rollouts.values
        value_loss = advantages.pow(2).mean()
        action_loss = -(advantages.detach() * rollouts.log_probs).mean()
        entropy = rollouts.entropies.mean()
        loss = action_loss + args.value_loss_coef * value_loss - args.entropy_coef * entropy

        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
        optimizer.step()

        rollouts.after_update()
        if j % 4 == 0 or j == args.num_updates - 1:
            print('Updates {}, mean reward {:.6f}, value loss {:.6f}, action loss {:.6f}, entropy {:.6f}'.format(
                j, rollouts.rewards.mean().item(), value_loss.item(), action_loss.item(), entropy.item()))


if __name__ == '__main__':
    main()
