import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from pendulum import Pendulum


def build(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 128), nn.Tanh(), nn.Linear(128, n_out))


class A2C:
    def __init__(self, envs, n_steps=100, gamma=0.99):
        self.envs, self.n_steps, self.gamma = envs, n_steps, gamma
        self.actor, self.critic = build(3, 3), build(3, 1)
        self.actor_opt = torch.optim.RMSprop(self.actor.parameters(), lr=7e-4)
        self.critic_opt = torch.optim.RMSprop(self.critic.parameters(), lr=7e-4)
        self.states = np.stack([env.reset() for env in envs])
        self.scores = []

    def rollout(self):
        log_probs, values, rewards, masks, entropies = [], [], [], [], []
        for _ in range(self.n_steps):
            state = torch.as_tensor(self.states)
            dist = torch.distributions.Categorical(logits=self.actor(state))
            actions = dist.sample()
            log_probs.append(dist.log_prob(actions))
            entropies.append(dist.entropy())
            values.append(self.critic(state).squeeze(-1))
            next_states, step_rewards, step_masks = [], [], []
            for env, action in zip(self.envs, actions.tolist()):
                state, reward, done, _ = env.step(action)
                next_states.append(env.reset() if done else state)
                step_rewards.append(reward)
                step_masks.append(1.0 - done)
            self.states = np.stack(next_states)
            rewards.append(torch.tensor(step_rewards))
            masks.append(torch.tensor(step_masks))
        return log_probs, values, rewards, masks, entropies

    def learn(self):
        log_probs, values, rewards, masks, entropies = self.rollout()
        with torch.no_grad():
            R = self.critic(torch.as_tensor(self.states)).squeeze(-1)
        returns = []
        for reward, mask in zip(reversed(rewards), reversed(masks)):
            R = reward + self.gamma * R * mask
            returns.insert(0, R)
        values, log_probs = torch.stack(values), torch.stack(log_probs)
        advantage = torch.stack(returns).float() - values

        critic_loss = advantage.pow(2).mean()
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        actor_loss = -(log_probs * advantage).mean() - 0.001 * torch.stack(entropies).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
        self.scores.append(torch.stack(rewards).sum().item())


if __name__ == "__main__":
    torch.manual_seed(5)
    learner = A2C([Pendulum(seed=i, discrete=True) for i in range(8)])
    for update in range(500):
        learner.learn()
        if update % 10 == 0:
            print(f"update {update} score {np.mean(learner.scores[-10:]):.2f}")
