import copy
import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 16), nn.ReLU(), nn.Linear(16, o))


class Agent:
    def __init__(self, n_agents, obs_dim=3, act_dim=2, lr=1e-2):
        self.actor = mlp(obs_dim, act_dim)
        self.critic = mlp(n_agents * (obs_dim + act_dim), 1)
        self.target_actor, self.target_critic = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        self.actor_optim = torch.optim.Adam(self.actor.parameters(), lr=lr)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=lr)

    def act(self, obs):
        return torch.tanh(self.actor(obs))

    def soft_update(self, tau=0.05):
        for net, target in ((self.actor, self.target_actor), (self.critic, self.target_critic)):
            for p, tp in zip(net.parameters(), target.parameters()):
                tp.data.lerp_(p.data, tau)


class MADDPG:
    def __init__(self, n=3, gamma=0.9):
        self.n, self.gamma = n, gamma
        self.agents = [Agent(n) for _ in range(n)]

    def learn(self, obs, acts, rews, nobs):
        # 中心化训练: 每个智能体的评论家看到所有观测和动作
        with torch.no_grad():
            nacts = torch.cat([torch.tanh(a.target_actor(nobs[:, i])) for i, a in enumerate(self.agents)], 1)
        joint, njoint = obs.flatten(1), nobs.flatten(1)
        actions = torch.cat([a.act(obs[:, i]) for i, a in enumerate(self.agents)], 1)   # 当前策略的联合动作
        info = []
        for i, agent in enumerate(self.agents):
            with torch.no_grad():
                y = rews[:, i:i + 1] + self.gamma * agent.target_critic(torch.cat([njoint, nacts], 1))
            critic_loss = F.mse_loss(agent.critic(torch.cat([joint, acts.flatten(1)], 1)), y)
            agent.critic_optim.zero_grad()
            critic_loss.backward()
            agent.critic_optim.step()

            actor_loss = -agent.critic(torch.cat([joint, actions.detach()], 1)).mean()
            agent.actor_optim.zero_grad()
            actor_loss.backward()
            agent.actor_optim.step()
            info.append((critic_loss.item(), actor_loss.item()))
        for agent in self.agents:
            agent.soft_update()
        return info


if __name__ == '__main__':
    torch.manual_seed(27)
    learner = MADDPG()
    for update in range(4):
        obs, acts = torch.randn(12, 3, 3), torch.rand(12, 3, 2) * 2 - 1
        rews = -(obs[..., :2] - acts).pow(2).sum(-1)
        info = learner.learn(obs, acts, rews, obs + 0.1 * torch.randn_like(obs))
        print(update, ' '.join('%.6f/%.6f' % pair for pair in info))
