"""Contrastive training with a large batch in small memory: the gradient with respect to the representations is cached,
then the encoder runs again chunk by chunk."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_in, 32), nn.GELU(), nn.Linear(32, d_out))

    def forward(self, x):
        return self.net(x)


class InfoNCE(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, q, d):
        logits = self.log_scale.exp() * q @ d.t()
        return F.cross_entropy(logits, torch.arange(len(q)))


class CachedStep:
    def __init__(self, encoder, criterion, chunk):
        self.encoder, self.criterion, self.chunk = encoder, criterion, chunk

    def build_cache(self, x):
        with torch.no_grad():
            reps = torch.cat([self.encoder(c) for c in x.split(self.chunk)])
        reps.requires_grad_()
        n = len(reps) // 2
        loss = self.criterion(reps[:n], reps[n:])
        loss.backward()
        return reps.grad, loss.item()

    def __call__(self, queries, documents):
        x = torch.cat([queries, documents])
        cache, loss = self.build_cache(x)
        for piece, grad in zip(x.split(self.chunk), cache.split(self.chunk)):
            self.encoder(piece).backward(gradient=grad)
        return loss


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--chunk', type=int, default=8)
    p.add_argument('--batch', type=int, default=32)
    p.add_argument('--steps', type=int, default=8)
    args = p.parse_args()
    torch.manual_seed(21)
    encoder, criterion = Encoder(10, 6), InfoNCE()
    optimizer = torch.optim.AdamW(list(encoder.parameters()) + list(criterion.parameters()), lr=5e-3)
    step = CachedStep(encoder, criterion, args.chunk)
    for it in range(args.steps):
        q = torch.randn(args.batch, 10)
        d = q + 0.4 * torch.randn(args.batch, 10)
        optimizer.zero_grad()
        loss = step(q, d)
        optimizer.step()
        if it % 2 == 1:
            print(f'step {it} loss {loss:.6f} scale {criterion.log_scale.exp().item():.6f}')


if __name__ == '__main__':
    main()
