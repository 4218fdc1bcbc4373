import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F


class QNet(nn.Module):
    def __init__(self, n_in, n_out):
        super(QNet, self).__init__()
        self.fc1 = nn.Linear(n_in, 24)
        self.fc2 = nn.Linear(24, n_out)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class Agent:
    def __init__(self):
        self.policy_net = QNet(3, 2)
        self.target_net = copy.deepcopy(self.policy_net)
        self.memory = deque(maxlen=200)
        self.optimizer = torch.optim.RMSprop(self.policy_net.parameters(), lr=0.005)
        self.gamma = 0.9

    def replay(self, size):
        batch = random.sample(self.memory, size)
        s, a, r, s_ = (torch.stack(col) for col in zip(*batch))

        q = self.policy_net(s).data.gather(1, a.unsqueeze(1)).squeeze(1)
        best = self.policy_net(s_).data.max(1)[1]
        q_next = self.target_net(s_).data.gather(1, best.unsqueeze(1)).squeeze(1)
        target = r + self.gamma * q_next

        loss = F.smooth_l1_loss(q, target)
        self.optimizer.zero_grad()
        loss.requires_grad_()
        loss.backward()
        self.optimizer.step()
        return loss.item()


random.seed(29)
torch.manual_seed(29)
agent = Agent()
state = torch.randn(3)
losses = []
for step in range(40):
    action = torch.tensor(random.randrange(2))
    nxt = 0.7 * state + 0.3 * torch.randn(3) + (0.2 if action else -0.2)
    agent.memory.append((state, action, -nxt.pow(2).sum(), nxt))
    state = nxt
    if step >= 32:
        losses.append(agent.replay(16))
    if step == 36:
        agent.target_net.load_state_dict(agent.policy_net.state_dict())
print('loss: {:.6f} -> {:.6f}'.format(losses[0], losses[-1]))
