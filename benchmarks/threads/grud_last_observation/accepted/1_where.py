import math
import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np

"""
GRU-D for irregularly sampled series (missing values, time since last observation)
"""


class GRUD(nn.Module):
    def __init__(self, input_size, hidden_size, x_mean):
        super(GRUD, self).__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.register_buffer('x_mean', x_mean)
        self.w_dg_x = nn.Parameter(torch.rand(input_size) * 0.5)
        self.b_dg_x = nn.Parameter(torch.zeros(input_size))
        self.w_dg_h = nn.Linear(input_size, hidden_size)
        self.zl = nn.Linear(input_size * 2 + hidden_size, hidden_size)
        self.rl = nn.Linear(input_size * 2 + hidden_size, hidden_size)
        self.hl = nn.Linear(input_size * 2 + hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, 1)

    def step(self, x, x_last, h, mask, delta):
        gamma_x = torch.exp(-torch.relu(self.w_dg_x * delta + self.b_dg_x))
        gamma_h = torch.exp(-torch.relu(self.w_dg_h(delta)))
        x = mask * x + (1 - mask) * (gamma_x * x_last + (1 - gamma_x) * self.x_mean)
        h = gamma_h * h
        c = torch.cat((x, h, mask), 1)
        z = torch.sigmoid(self.zl(c))
        r = torch.sigmoid(self.rl(c))
        h_tilde = torch.tanh(self.hl(torch.cat((x, r * h, mask), 1)))
        return (1 - z) * h + z * h_tilde

    def forward(self, X, Mask, Delta):
        B, T, D = X.shape
        h = X.new_zeros(B, self.hidden_size)
        x_last = self.x_mean.expand(B, D).clone()
        for t in range(T):
            x, mask = X[:, t], Mask[:, t]
            h = self.step(x, x_last, h, mask, Delta[:, t])
            observed = mask.bool()
            x_last = torch.where(observed, x, x_last)
        return self.out(h).squeeze(1)


def synthetic(n, T, D, rng):
    t = np.linspace(0, 3, T)
    phase = rng.uniform(0, 2 * math.pi, (n, 1, D))
    freq = rng.uniform(0.5, 1.5, (n, 1, 1))
    X = np.sin(freq * t[None, :, None] * 2 + phase) + 0.5
    M = (rng.uniform(size=X.shape) < 0.5).astype(np.float32)
    delta = np.zeros_like(X)
    for i in range(1, T):
        delta[:, i] = 0.2 + (1 - M[:, i - 1]) * delta[:, i - 1]
    y = freq[:, 0, 0] - 1
    f = lambda a: torch.from_numpy(a.astype(np.float32))
    return f(X * M), f(M), f(delta), f(y)


def train_epoch(model, data, optimizer, batch_size, clip=1.0):
    X, M, Dl, y = data
    perm = torch.randperm(len(y))
    for i in range(0, len(y), batch_size):
        idx = perm[i:i + batch_size]
        optimizer.zero_grad()
        pred = model(X[idx], M[idx], Dl[idx])
        loss = F.mse_loss(pred, y[idx])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        yield loss.item()


if __name__ == '__main__':
    torch.manual_seed(5)
    rng = np.random.RandomState(5)
    data = synthetic(48, 10, 3, rng)
    x_mean = (data[0].sum((0, 1)) / data[1].sum((0, 1)))
    model = GRUD(3, 10, x_mean)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01)
    for epoch in range(2):
        losses = list(train_epoch(model, data, optimizer, 12))
        print('Epoch', epoch, ' '.join('%.6f' % l for l in losses), 'decay %.6f' % model.w_dg_x.sum().item())
