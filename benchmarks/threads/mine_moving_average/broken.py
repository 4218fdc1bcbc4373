# Mutual Information Neural Estimation, joint training of an encoder (deep infomax toy)
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch import autograd

class Mine(nn.Module):
    def __init__(self, input_size=4, hidden_size=24):
        super().__init__()
        self.fc1 = nn.Linear(input_size, hidden_size)
        self.fc2 = nn.Linear(hidden_size, hidden_size)
        self.fc3 = nn.Linear(hidden_size, 1)
        nn.init.normal_(self.fc1.weight, std=0.3)
        nn.init.normal_(self.fc2.weight, std=0.3)
        nn.init.normal_(self.fc3.weight, std=0.3)

    def forward(self, input):
        output = F.elu(self.fc1(input))
        output = F.elu(self.fc2(output))
        return self.fc3(output)

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, x):
        return x + self.net(x)

def mutual_information(joint, marginal, mine_net):
    t = mine_net(joint)
    et = torch.exp(mine_net(marginal))
    mi_lb = torch.mean(t) - torch.log(torch.mean(et))
    return mi_lb, t, et

def learn_mine(batch, mine_net, mine_net_optim, ma_et, ma_rate=0.01):
    # batch is a tuple of (joint, marginal)
    joint, marginal = batch
    mi_lb, t, et = mutual_information(joint, marginal, mine_net)
    ma_et = (1 - ma_rate) * ma_et + ma_rate * torch.mean(et)

    # unbiasing: the gradient of log E[e^T] is E[e^T dT] / E[e^T]; the moving average only estimates the denominator
    loss = -(torch.mean(t) - (1 / ma_et) * torch.mean(et))
    # use biased estimator
    # loss = - mi_lb

    mine_net_optim.zero_grad()
    loss.backward()
    mine_net_optim.step()
    return mi_lb, ma_et

def sample_batch(data, encoder, batch_size=100):
    index = np.random.choice(range(data.shape[0]), size=batch_size, replace=False)
    marg = np.random.choice(range(data.shape[0]), size=batch_size, replace=False)
    x = torch.from_numpy(data[index, :2])
    z = encoder(torch.from_numpy(data[index, 2:]))
    z_marg = encoder(torch.from_numpy(data[marg, 2:]))
    return torch.cat([x, z], 1), torch.cat([x, z_marg], 1)

def train(data, mine_net, encoder, optim_, batch_size=64, iter_num=8):
    result = list()
    ma_et = 1.
    for i in range(iter_num):
        batch = sample_batch(data, encoder, batch_size=batch_size)
        mi_lb, ma_et = learn_mine(batch, mine_net, optim_, ma_et, ma_rate=0.1)
        result.append(mi_lb.detach().numpy())
        if (i + 1) % 2 == 0:
            print('iter %d MI %.6f ma %.6f' % (i + 1, result[-1], float(ma_et)))
    return result

def main():
    np.random.seed(1)
    torch.manual_seed(1)
    cov = np.eye(4)
    cov[0, 2] = cov[2, 0] = 0.8
    cov[1, 3] = cov[3, 1] = -0.6
    data = np.random.multivariate_normal(np.zeros(4), cov, size=300).astype(np.float32)
    mine_net, encoder = Mine(), Encoder()
    opt = optim.Adam(list(mine_net.parameters()) + list(encoder.parameters()), lr=5e-3)
    train(data, mine_net, encoder, opt)

if __name__ == '__main__':
    main()
