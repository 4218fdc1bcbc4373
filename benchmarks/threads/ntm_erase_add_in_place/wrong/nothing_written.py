"""Neural Turing machine on the copy task."""
import argparse
import random

import torch
from torch import nn
import torch.nn.functional as F


class NTMMemory(nn.Module):
    """Memory bank: N x M"""

    def __init__(self, N, M):
        super(NTMMemory, self).__init__()
        self.N, self.M = N, M
        stdev = 1 / (N + M) ** 0.5
        self.register_buffer('mem_bias', torch.empty(N, M).uniform_(-stdev, stdev))

    def reset(self, batch_size):
        self.batch_size = batch_size
        self.memory = self.mem_bias.repeat(batch_size, 1, 1)

    def read(self, w):
        return torch.matmul(w.unsqueeze(1), self.memory).squeeze(1)

    def write(self, w, e, a):
        erase = torch.matmul(w.unsqueeze(-1), e.unsqueeze(1))
        add = torch.matmul(w.unsqueeze(-1), a.unsqueeze(1))
        self.memory.mul_(1 - erase)
        self.memory.add_(add)

    def address(self, k, beta):
        return F.softmax(beta * F.cosine_similarity(self.memory + 1e-16, k.unsqueeze(1) + 1e-16, dim=-1), dim=1)


class Head(nn.Module):
    def __init__(self, memory, controller_size, lengths):
        super().__init__()
        self.memory, self.lengths = memory, lengths
        self.fc = nn.Linear(controller_size, sum(lengths))

    def split(self, h):
        return torch.split(self.fc(h), self.lengths, dim=1)


class ReadHead(Head):
    def __init__(self, memory, controller_size):
        super().__init__(memory, controller_size, [memory.M, 1])

    def forward(self, h):
        k, beta = self.split(h)
        w = self.memory.address(torch.tanh(k), F.softplus(beta))
        return self.memory.read(w)


class WriteHead(Head):
    def __init__(self, memory, controller_size):
        super().__init__(memory, controller_size, [memory.M, 1, memory.M, memory.M])

    def forward(self, h):
        k, beta, e, a = self.split(h)
        w = self.memory.address(torch.tanh(k), F.softplus(beta))
        self.memory.write(w, torch.sigmoid(e), torch.tanh(a))


class NTM(nn.Module):
    def __init__(self, width, controller_size, N, M):
        super().__init__()
        self.memory = NTMMemory(N, M)
        self.controller = nn.LSTMCell(width + 1 + M, controller_size)
        self.read_head = ReadHead(self.memory, controller_size)
        self.write_head = WriteHead(self.memory, controller_size)
        self.out = nn.Linear(controller_size + M, width)
        self.M, self.size, self.width = M, controller_size, width

    def init_sequence(self, batch_size):
        self.memory.reset(batch_size)
        self.r = torch.zeros(batch_size, self.M)
        self.state = (torch.zeros(batch_size, self.size), torch.zeros(batch_size, self.size))

    def forward(self, x=None):
        if x is None:
            x = torch.zeros(self.memory.batch_size, self.width + 1)
        self.state = self.controller(torch.cat([x, self.r], 1), self.state)
        h = self.state[0]
        self.r = self.read_head(h)
        return torch.sigmoid(self.out(torch.cat([h, self.r], 1)))


def dataloader(num_batches, batch_size, width, min_len, max_len):
    for _ in range(num_batches):
        n = random.randint(min_len, max_len)
        seq = torch.bernoulli(torch.full((n, batch_size, width), 0.5))
        inp = torch.zeros(n + 1, batch_size, width + 1)
        inp[:n, :, :width] = seq
        inp[n, :, width] = 1.0      # delimiter
        yield inp, seq


def train_batch(net, criterion, optimizer, X, Y):
    optimizer.zero_grad()
    net.init_sequence(X.size(1))
    for x in X:
        net(x)
    y_out = torch.stack([net() for _ in range(Y.size(0))])
    loss = criterion(y_out, Y)
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), 10)
    optimizer.step()
    return loss.item(), (y_out.round() - Y).abs().sum().item() / X.size(1)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--num_batches', type=int, default=5)
    parser.add_argument('--batch_size', type=int, default=4)
    parser.add_argument('--seed', type=int, default=1000)
    args = parser.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    net = NTM(3, 16, N=8, M=6)
    optimizer = torch.optim.RMSprop(net.parameters(), momentum=0.9, alpha=0.95, lr=3e-3)
    for n, (X, Y) in enumerate(dataloader(args.num_batches, args.batch_size, 3, 2, 4)):
        loss, cost = train_batch(net, nn.BCELoss(), optimizer, X, Y)
        print('%d loss %.6f cost %.6f' % (n, loss, cost))
