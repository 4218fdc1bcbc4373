# -*- coding: utf-8 -*-
# 带优先经验回放 (PER) 的 Double DQN, 环境是一个很小的一维走廊
import random
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

SEED = 7
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)


class Corridor(object):
    """长度为 9 的走廊, 走到右端得 1 分, 每一步扣 0.02"""
    n = 9

    def reset(self):
        self.pos, self.t = 2, 0
        return self.obs()

    def obs(self):
        o = np.zeros(self.n, dtype=np.float32)
        o[self.pos] = 1.0
        return o

    def step(self, a):
        self.t += 1
        self.pos = min(max(self.pos + (1 if a == 1 else -1), 0), self.n - 1)
        done = self.pos == self.n - 1
        return self.obs(), (1.0 if done else -0.02), done or self.t >= 30


class Net(nn.Module):
    def __init__(self, n_in, n_act):
        super(Net, self).__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
        self.value = nn.Linear(24, 1)
        self.adv = nn.Linear(24, n_act)

    def forward(self, s):
        h = self.body(s)
        a = self.adv(h)
        return self.value(h) + a - a.mean(1, keepdim=True)


class PrioritizedReplay(object):
    def __init__(self, capacity, alpha=0.6):
        self.capacity, self.alpha = capacity, alpha
        self.data, self.pos = [], 0
        self.priorities = torch.ones(capacity)

    def push(self, *transition):
        # 新样本给当前最大的优先级, 保证至少被采样一次
        p = float(self.priorities[:len(self.data)].max()) if self.data else 1.0
        if len(self.data) < self.capacity:
            self.data.append(transition)
        else:
            self.data[self.pos] = transition
        self.priorities[self.pos] = p
        self.pos = (self.pos + 1) % self.capacity

    def sample(self, batch_size, beta):
        n = len(self.data)
        probs = self.priorities[:n] ** self.alpha
        probs = probs / probs.sum()
        idx = torch.multinomial(probs, batch_size)
        # 重要性采样权重, 修正非均匀采样带来的偏差
        weights = (n * probs[idx]) ** (-beta)
        weights = weights / weights.max()
        s, a, r, s2, d = zip(*[self.data[i] for i in idx.tolist()])
        return (torch.tensor(np.array(s)), torch.tensor(a), torch.tensor(r), torch.tensor(np.array(s2)),
                torch.tensor(d), idx, weights)

    def update_priorities(self, idx, td_errors):
        self.priorities[idx] = td_errors.detach().abs() + 1e-5


env = Corridor()
q_net, target_net = Net(env.n, 2), Net(env.n, 2)
target_net.load_state_dict(q_net.state_dict())
optimizer = optim.Adam(q_net.parameters(), lr=2e-3)
memory = PrioritizedReplay(400)
GAMMA, BATCH, SYNC = 0.95, 16, 20


def learn(beta):
    s, a, r, s2, d, idx, weights = memory.sample(BATCH, beta)
    q = q_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = q_net(s2).argmax(1, keepdim=True)
        target = r + GAMMA * target_net(s2).gather(1, best).squeeze(1) * (1 - d)
    td = target - q
    loss = (weights * td.pow(2)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory.update_priorities(idx, td)      # 用 TD 误差更新优先级
    return loss.item()


if __name__ == '__main__':
    frame, losses = 0, []
    for episode in range(12):
        s, done, score = env.reset(), False, 0.0
        while not done:
            eps = max(0.1, 1.0 - frame / 120)
            with torch.no_grad():
                a = random.randrange(2) if random.random() < eps else int(q_net(torch.tensor(s)[None]).argmax())
            s2, r, done = env.step(a)
            memory.push(s, a, r, s2, float(done))
            s, score, frame = s2, score + r, frame + 1
            if len(memory.data) >= 40:
                losses.append(learn(beta=min(1.0, 0.4 + frame / 300)))
                if len(losses) % SYNC == 0:
                    target_net.load_state_dict(q_net.state_dict())
        print('episode %d frames %d score %.3f loss %.6f' % (episode, frame, score, np.mean(losses[-10:]) if losses else 0))
    print('priority mass %.5f' % float(memory.priorities.sum()))
