import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, hidden, C=10.0):
        super().__init__()
        self.W_q, self.W_k = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.v = nn.Parameter(torch.empty(hidden).uniform_(-1 / math.sqrt(hidden), 1 / math.sqrt(hidden)))
        self.C = C

    def forward(self, query, ref):
        ref = self.W_k(ref)
        logits = self.C * torch.tanh((torch.tanh(self.W_q(query)[:, None] + ref) * self.v).sum(-1))
        return ref, logits


class PointerNet(nn.Module):
    """Neural combinatorial optimization: the decoder points at the city to visit next"""

    def __init__(self, hidden):
        super().__init__()
        self.embed = nn.Linear(2, hidden)
        self.encoder = nn.LSTM(hidden, hidden, batch_first=True)
        self.decoder = nn.LSTMCell(hidden, hidden)
        self.pointer = Attention(hidden)
        self.start = nn.Parameter(torch.randn(hidden) * 0.1)

    def apply_mask(self, logits, mask, prev_idx):
        if prev_idx is not None:
            mask[torch.arange(len(mask)), prev_idx] = True
        return logits.masked_fill(mask, -math.inf), mask

    def forward(self, inputs, generator=None):
        B, N, _ = inputs.shape
        emb = self.embed(inputs)
        enc, (h, c) = self.encoder(emb)
        h, c = h[0], c[0]
        x = self.start.expand(B, -1)
        mask = torch.zeros(B, N, dtype=torch.bool)
        idx, tour, logps = None, [], []
        for _ in range(N):
            h, c = self.decoder(x, (h, c))
            _, logits = self.pointer(h, enc)
            logp = F.log_softmax(logits, 1)
            idx = torch.multinomial(logp.exp().detach(), 1, generator=generator).squeeze(1)
            logps.append(logp.gather(1, idx[:, None]).squeeze(1))
            tour.append(idx)
            x = emb[torch.arange(B), idx]
        return torch.stack(tour, 1), torch.stack(logps, 1)


def tour_length(cities, tour):
    path = cities.gather(1, tour[..., None].expand(-1, -1, 2))
    return (path - path.roll(-1, 1)).norm(dim=-1).sum(1)


class Baseline:
    def __init__(self, beta):
        self.beta, self.value = beta, None

    def __call__(self, r):
        m = r.mean()
        self.value = m if self.value is None else self.beta * self.value + (1 - self.beta) * m
        return self.value


class Reinforce:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.optim = torch.optim.Adam(model.parameters(), lr=args.lr)
        self.sched = torch.optim.lr_scheduler.MultiStepLR(self.optim, [4], gamma=0.5)
        self.baseline = Baseline(args.beta)

    def step(self, cities):
        tour, logps = self.model(cities)
        length = tour_length(cities, tour)
        advantage = length - self.baseline(length)
        loss = (advantage * logps.sum(1)).mean()
        self.optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
        self.optim.step()
        self.sched.step()
        return loss.item(), length.mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--cities', type=int, default=6)
    p.add_argument('--hidden', type=int, default=16)
    p.add_argument('--batch', type=int, default=12)
    p.add_argument('--steps', type=int, default=6)
    p.add_argument('--lr', type=float, default=5e-3)
    p.add_argument('--beta', type=float, default=0.8)
    p.add_argument('--max_grad_norm', type=float, default=2.0)
    args = p.parse_args()
    torch.manual_seed(9)
    trainer = Reinforce(PointerNet(args.hidden), args)
    for s in range(args.steps):
        print('%d loss %.6f length %.6f' % ((s,) + trainer.step(torch.rand(args.batch, args.cities, 2))))


if __name__ == '__main__':
    main()
