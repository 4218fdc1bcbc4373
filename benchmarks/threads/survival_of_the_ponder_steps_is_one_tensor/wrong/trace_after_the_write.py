"""PonderNet-ish recurrent reader: decides in every step whether to halt.

p_n      = lambda_n * prod_{j<n} (1 - lambda_j)       probability to halt in step n
alive_n  = prod_{j<n} (1 - lambda_j)                  still running when step n begins
loss     = sum_n p_n * CE_n + beta * sum_n (alive_n - prior_n)^2
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PonderReader(nn.Module):
    def __init__(self, n_in, n_hidden, n_out, max_steps):
        super(PonderReader, self).__init__()
        self.max_steps = max_steps
        self.embed = nn.Linear(n_in, n_hidden)
        self.cell = nn.GRUCell(n_hidden, n_hidden)
        self.out = nn.Linear(n_hidden, n_out)
        self.halt = nn.Linear(n_hidden, 1)

    def forward(self, x):
        e = torch.tanh(self.embed(x))
        h = x.new_zeros(x.shape[0], self.cell.hidden_size)
        alive = x.new_ones(x.shape[0])
        ps, ys, trace = [], [], []
        for n in range(1, self.max_steps + 1):
            h = self.cell(e, h)
            if n == self.max_steps:
                lam = x.new_ones(x.shape[0])
            else:
                lam = torch.sigmoid(self.halt(h)).squeeze(-1)
            ys.append(self.out(h))
            ps.append(alive * lam)
            alive = alive * (1 - lam)
            trace.append(alive)
        return torch.stack(ps), torch.stack(ys), torch.stack(trace)


class PonderLoss(nn.Module):
    def __init__(self, prior_lambda, beta, max_steps):
        super(PonderLoss, self).__init__()
        self.beta = beta
        n = torch.arange(max_steps).float()
        self.register_buffer('prior', (1 - prior_lambda) ** n)

    def forward(self, p, y_hat, trace, y):
        ce = torch.stack([F.cross_entropy(o, y, reduction='none') for o in y_hat])
        rec = (p * ce).sum(0).mean()
        reg = (trace - self.prior[:, None]).pow(2).sum(0).mean()
        return rec + self.beta * reg, rec, reg


def parity(n, d, gen):
    x = torch.zeros(n, d)
    k = torch.randint(1, d + 1, (n,), generator=gen)
    for i in range(n):
        x[i, :k[i]] = torch.randint(0, 2, (int(k[i]),), generator=gen).float() * 2 - 1
    return x, (x == 1).sum(1) % 2


if __name__ == '__main__':
    torch.manual_seed(21)
    gen = torch.Generator().manual_seed(4)
    model = PonderReader(6, 24, 2, max_steps=5)
    criterion = PonderLoss(prior_lambda=0.4, beta=0.5, max_steps=5)
    optim = torch.optim.SGD(model.parameters(), lr=0.3)
    for it in range(12):
        x, y = parity(64, 6, gen)
        p, y_hat, trace = model(x)
        loss, rec, reg = criterion(p, y_hat, trace, y)
        optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        steps = (p * torch.arange(1, 6)[:, None]).sum(0).mean().item()
        if it % 3 == 2:
            print('%2d rec %.5f reg %.5f steps %.3f' % (it, rec.item(), reg.item(), steps))
