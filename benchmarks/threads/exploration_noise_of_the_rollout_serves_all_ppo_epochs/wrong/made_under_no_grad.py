# PPO with a learned, state-independent exploration noise. Task: push a point mass to the origin.
import math
import torch
import torch.nn as nn
from torch.distributions import MultivariateNormal

torch.manual_seed(33)

################ hyperparameters ################
n_updates = 6
T_horizon = 64
K_epochs = 5
eps_clip = 0.2
gamma = 0.95
lr = 4e-3
action_std_init = 0.6
entropy_coef = 0.01
#################################################


class PointMass:
    """ 2-d position and velocity, the action is a force """
    obs_dim, act_dim, max_steps = 4, 2, 16

    def __init__(self, seed=0):
        self.g = torch.Generator().manual_seed(seed)

    def reset(self):
        self.s = torch.cat([torch.rand(2, generator=self.g) * 2 - 1, torch.zeros(2)])
        self.t = 0
        return self.s.clone()

    def step(self, force):
        vel = 0.8 * self.s[2:] + 0.3 * force.clamp(-1, 1)
        pos = self.s[:2] + 0.3 * vel
        self.s = torch.cat([pos, vel])
        self.t += 1
        reward = -(pos.norm() + 0.05 * force.norm()).item()
        return self.s.clone(), reward, self.t >= self.max_steps


class Memory:
    def __init__(self):
        self.clear()

    def clear(self):
        self.states, self.actions, self.logprobs, self.rewards, self.is_terminals = [], [], [], [], []


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super(ActorCritic, self).__init__()
        self.actor = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, act_dim), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh(), nn.Linear(32, 1))
        # the noise is learned too
        self.log_std = nn.Parameter(torch.full((act_dim,), math.log(action_std_init)))
        self.refresh_noise()

    @torch.no_grad()
    def refresh_noise(self):
        self.cov_mat = torch.diag(self.log_std.exp() ** 2)

    def act(self, state, memory):
        with torch.no_grad():
            dist = MultivariateNormal(self.actor(state), self.cov_mat)
            action = dist.sample()
            memory.states.append(state)
            memory.actions.append(action)
            memory.logprobs.append(dist.log_prob(action))
        return action

    def evaluate(self, state, action):
        action_mean = self.actor(state)
        dist = MultivariateNormal(action_mean, self.cov_mat)
        return dist.log_prob(action), self.critic(state).squeeze(-1), dist.entropy()


class PPO:
    def __init__(self, obs_dim, act_dim):
        self.policy = ActorCritic(obs_dim, act_dim)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.MseLoss = nn.MSELoss()

    def update(self, memory):
        returns, discounted = [], 0
        for reward, is_terminal in zip(reversed(memory.rewards), reversed(memory.is_terminals)):
            if is_terminal:
                discounted = 0
            discounted = reward + gamma * discounted
            returns.insert(0, discounted)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-5)

        old_states = torch.stack(memory.states)
        old_actions = torch.stack(memory.actions)
        old_logprobs = torch.stack(memory.logprobs)

        # Optimize policy for K epochs:
        for _ in range(K_epochs):
            logprobs, values, entropy = self.policy.evaluate(old_states, old_actions)
            ratios = torch.exp(logprobs - old_logprobs)
            advantages = returns - values.detach()
            surr1 = ratios * advantages
            surr2 = torch.clamp(ratios, 1 - eps_clip, 1 + eps_clip) * advantages
            loss = -torch.min(surr1, surr2).mean() + 0.5 * self.MseLoss(values, returns) - entropy_coef * entropy.mean()

            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


def main():
    env = PointMass(seed=2)
    agent = PPO(env.obs_dim, env.act_dim)
    memory = Memory()
    for update in range(n_updates):
        # noise for this rollout
        agent.policy.refresh_noise()
        state = env.reset()
        for t in range(T_horizon):
            action = agent.policy.act(state, memory)
            state, reward, done = env.step(action)
            memory.rewards.append(reward)
            memory.is_terminals.append(done)
            if done:
                state = env.reset()
        mean_reward = sum(memory.rewards) / len(memory.rewards)
        loss = agent.update(memory)
        memory.clear()
        std = agent.policy.log_std.exp().tolist()
        print('update %d  reward %.6f  loss %.6f  std %.6f %.6f' % (update, mean_reward, loss, std[0], std[1]))


if __name__ == '__main__':
    main()
