import torch
import torch.nn as nn
from torch.distributions import Categorical


class ActorCritic:
    def __init__(self, state_dim, n_actions, hidden=12, gamma=0.95, actor_lr=5e-3, critic_lr=2e-2):
        self.actor = nn.Sequential(nn.Linear(state_dim, hidden), nn.Tanh(), nn.Linear(hidden, n_actions))
        self.critic = nn.Sequential(nn.Linear(state_dim, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=actor_lr)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=critic_lr)
        self.gamma = gamma

    def take_action(self, state):
        with torch.no_grad():
            dist = Categorical(logits=self.actor(torch.from_numpy(state)))
        return dist.sample().item()

    def update(self, batch):
        states, actions, rewards, next_states, dones = batch

        # 时序差分目标与误差
        td_target = rewards + self.gamma * self.critic(next_states) * (1 - dones)
        td_error = (td_target - self.critic(states)).detach()

        # 价值网络: 误差的平方
        critic_loss = td_error.pow(2).mean()

        # 策略网络: 用误差给动作打分
        log_probs = torch.log_softmax(self.actor(states), dim=1).gather(1, actions)
        actor_loss = torch.mean(-log_probs * td_error)

        self.actor_optimizer.zero_grad()
        self.critic_optimizer.zero_grad()
        critic_loss.backward()  # 价值网络的梯度
        actor_loss.backward()  # 策略网络的梯度
        self.actor_optimizer.step()
        self.critic_optimizer.step()
        return actor_loss.item(), critic_loss.item()
