import numpy as np
import torch

from utils import get_entropy, get_gae, log_prob_density


def train_actor_critic(actor, critic, memory, actor_optim, critic_optim, args):
    states = torch.Tensor(np.array([m[0] for m in memory]))
    actions = torch.Tensor(np.array([m[1] for m in memory]))
    rewards = torch.Tensor([m[2] for m in memory])
    masks = torch.Tensor([m[3] for m in memory])

    old_values = critic(states)[:, 0].detach()
    returns, advants = get_gae(rewards, masks, old_values, args)

    mu, std = actor(states)
    old_policy = log_prob_density(actions, mu, std).detach()

    criterion = torch.nn.MSELoss()
    n = len(states)
    arr = np.arange(n)
    total, total_value, count = 0.0, 0.0, 0

    for _ in range(args.ppo_update_num):
        np.random.shuffle(arr)

        for i in range(n // args.batch_size):
            batch_index = torch.LongTensor(arr[args.batch_size * i: args.batch_size * (i + 1)])

            inputs = states[batch_index]
            actions_samples = actions[batch_index]
            returns_samples = returns[batch_index].unsqueeze(1)
            advants_samples = advants[batch_index].unsqueeze(1)
            oldvalue_samples = old_values[batch_index].unsqueeze(1)

            values = critic(inputs)
            clipped_values = oldvalue_samples + torch.clamp(values - oldvalue_samples,
                                                            -args.clip_param, args.clip_param)
            critic_loss1 = criterion(clipped_values, returns_samples)
            critic_loss2 = criterion(values, returns_samples)
            critic_loss = torch.max(critic_loss1, critic_loss2).mean()

            loss, ratio, entropy = surrogate_loss(actor, advants_samples, inputs, old_policy,
                                                  actions_samples, batch_index)
            clipped_ratio = torch.clamp(ratio, 1.0 - args.clip_param, 1.0 + args.clip_param)
            clipped_loss = clipped_ratio * advants_samples
            actor_loss = -torch.min(loss, clipped_loss).mean()

            loss = actor_loss + 0.5 * critic_loss.item() - 0.001 * entropy

            critic_optim.zero_grad()
            loss.backward(retain_graph=True)
            critic_optim.step()

            actor_optim.zero_grad()
            loss.backward()
            actor_optim.step()

            total += loss.item()
            total_value += critic_loss.item()
            count += 1

    return total / count, total_value / count


def surrogate_loss(actor, advants, states, old_policy, actions, batch_index):
    mu, std = actor(states)
    new_policy = log_prob_density(actions, mu, std)
    old_policy = old_policy[batch_index]

    ratio = torch.exp(new_policy - old_policy)
    surrogate_loss = ratio * advants
    entropy = get_entropy(std).mean()
    return surrogate_loss, ratio, entropy
