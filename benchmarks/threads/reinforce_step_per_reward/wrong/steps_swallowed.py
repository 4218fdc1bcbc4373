import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

#Hyperparameters
learning_rate = 0.01
gamma         = 0.98

class Corridor:
    """Seven cells; the goal is the right end."""
    def reset(self):
        self.s, self.t = 3, 0
        return self.obs()
    def obs(self):
        return F.one_hot(torch.tensor(self.s), 7).float()
    def step(self, a):
        self.s = max(0, min(6, self.s + (1 if a == 1 else -1)))
        self.t += 1
        done = self.s in (0, 6) or self.t == 10
        return self.obs(), (1.0 if self.s == 6 else -0.1), done

class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.data = []
        self.fc1 = nn.Linear(7, 16)
        self.fc2 = nn.Linear(16, 2)
        self.optimizer = optim.SGD(self.parameters(), lr=learning_rate)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.softmax(self.fc2(x), dim=0)
        return x

    def put_data(self, item):
        self.data.append(item)

    def train_net(self):
        R = 0
        for r, prob in self.data[::-1]:
            R = r + gamma * R
            loss = -torch.log(prob) * R
            self.optimizer.zero_grad()
            loss.backward()
            if R == r:
                held = [p.grad.clone() for p in self.parameters()]
        for p, g in zip(self.parameters(), held):
            p.grad = g
        self.optimizer.step()
        self.data = []

def main():
    torch.manual_seed(26)
    env = Corridor()
    pi = Policy()
    score = 0.0
    for n_epi in range(6):
        s, done = env.reset(), False
        while not done:
            prob = pi(s)
            m = Categorical(prob)
            a = torch.tensor(n_epi % 2) if len(pi.data) % 3 == 0 else torch.tensor(1)
            s_prime, r, done = env.step(a.item())
            pi.put_data((r, prob[a]))
            s = s_prime
            score += r
        pi.train_net()
    print("score : %.6f, fc1 %.6f" % (score, pi.fc1.weight.norm().item()))

if __name__ == '__main__':
    main()
