import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions import Categorical

# hyperparameters
hidden_size = 32
learning_rate = 3e-3
GAMMA = 0.95
num_steps = 25
max_episodes = 12
entropy_coef = 0.1


class Corridor:
    """walk to the right end of a corridor, small wind to the left"""

    def __init__(self, length=7, seed=0):
        self.length = length
        self.rng = np.random.RandomState(seed)

    def _obs(self):
        o = np.zeros(self.length, dtype=np.float32)
        o[self.pos] = 1.0
        return o

    def reset(self):
        self.pos = self.length // 2
        return self._obs()

    def step(self, action):
        move = 1 if action == 1 else -1
        if self.rng.rand() < 0.15:
            move = -1
        self.pos = int(np.clip(self.pos + move, 0, self.length - 1))
        done = self.pos == self.length - 1
        reward = 1.0 if done else -0.05
        return self._obs(), reward, done


class ActorCritic(nn.Module):
    def __init__(self, num_inputs, num_actions, hidden_size):
        super(ActorCritic, self).__init__()
        self.critic_linear1 = nn.Linear(num_inputs, hidden_size)
        self.critic_linear2 = nn.Linear(hidden_size, 1)
        self.actor_linear1 = nn.Linear(num_inputs, hidden_size)
        self.actor_linear2 = nn.Linear(hidden_size, num_actions)

    def forward(self, state):
        state = torch.from_numpy(state).float().unsqueeze(0)
        value = self.critic_linear2(torch.relu(self.critic_linear1(state)))
        logits = self.actor_linear2(torch.relu(self.actor_linear1(state)))
        return value, Categorical(logits=logits)


class A2CAgent:
    def __init__(self, env):
        self.env = env
        self.ac = ActorCritic(env.length, 2, hidden_size)
        self.optimizer = optim.Adam(self.ac.parameters(), lr=learning_rate)

    def compute_returns(self, rewards, Qval):
        Qvals = np.zeros(len(rewards))
        for t in reversed(range(len(rewards))):
            Qval = rewards[t] + GAMMA * Qval
            Qvals[t] = Qval
        return torch.tensor(Qvals, dtype=torch.float32)

    def update(self, values, log_probs, Qvals, entropy_term):
        values = torch.cat(values).squeeze(-1)
        log_probs = torch.cat(log_probs)
        advantage = Qvals - values
        actor_loss = (-log_probs * advantage.detach()).mean()
        critic_loss = 0.5 * advantage.pow(2).mean()
        loss = actor_loss + critic_loss - entropy_coef * entropy_term.detach()

        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return actor_loss.item(), critic_loss.item()

    def train(self):
        all_rewards = []
        entropy_term = 0

        for episode in range(max_episodes):
            log_probs, values, rewards = [], [], []
            state = self.env.reset()
            done = False

            for step in range(num_steps):
                value, dist = self.ac(state)
                action = dist.sample()
                entropy = dist.entropy().mean()
                entropy_term += entropy / num_steps

                new_state, reward, done = self.env.step(action.item())
                rewards.append(reward)
                values.append(value)
                log_probs.append(dist.log_prob(action))
                state = new_state
                if done:
                    break

            Qval = 0.0
            if not done:
                with torch.no_grad():
                    Qval = self.ac(state)[0].item()
            Qvals = self.compute_returns(rewards, Qval)
            actor_loss, critic_loss = self.update(values, log_probs, Qvals, entropy_term)
            all_rewards.append(sum(rewards))
            print("episode: %d, reward: %.4f, steps: %d, actor: %.6f, critic: %.6f"
                  % (episode, all_rewards[-1], len(rewards), actor_loss, critic_loss))

        with torch.no_grad():
            _, dist = self.ac(self.env.reset())
        print("mean reward %.6f | p(right) %.6f" % (np.mean(all_rewards), dist.probs[0, 1].item()))


if __name__ == "__main__":
    torch.manual_seed(0)
    agent = A2CAgent(Corridor(seed=3))
    agent.train()
