"""character model trained with a home-made optimizer"""
import argparse
import math
from typing import Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.optimizer import Optimizer


class Lion(Optimizer):
    """EvoLved sIgn mOmeNtum, https://arxiv.org/abs/2302.06675"""

    def __init__(self, params, lr: float = 1e-4, betas: Tuple[float, float] = (0.9, 0.99), weight_decay: float = 0.0):
        assert lr > 0.
        assert all(0. <= beta <= 1. for beta in betas)
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            lr, wd, (beta1, beta2) = group['lr'], group['weight_decay'], group['betas']
            for p in filter(lambda p: p.grad is not None, group['params']):
                state = self.state[p]
                if len(state) == 0:
                    state['exp_avg'] = torch.zeros_like(p)
                grad, exp_avg = p.grad, state['exp_avg']
                # stepweight decay
                p.data.mul_(1 - lr * wd)
                # weight update
                update = exp_avg.clone().mul_(beta1).add_(grad, alpha=1 - beta1).sign_()
                p.data.add_(update, alpha=-lr)
                # decay the momentum running average coefficient
                exp_avg.mul_(beta2).add_(grad, alpha=1 - beta2)
        return loss


class CausalSelfAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(d, 3 * d), nn.Linear(d, d), heads

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, D))


class CharGPT(nn.Module):
    def __init__(self, vocab, d=16, heads=2, depth=2, ctx=16):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(ctx, d)
        self.blocks = nn.ModuleList()
        for _ in range(depth):
            self.blocks.append(nn.ModuleDict(dict(ln1=nn.LayerNorm(d), att=CausalSelfAttention(d, heads), ln2=nn.LayerNorm(d),
                                                  mlp=nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d)))))
        self.ln, self.ctx = nn.LayerNorm(d), ctx

    def forward(self, idx, targets):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        for b in self.blocks:
            x = x + b['att'](b['ln1'](x))
            x = x + b['mlp'](b['ln2'](x))
        logits = self.ln(x) @ self.tok.weight.t()
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def get_batch(data, ctx, n):
    ix = torch.randint(len(data) - ctx, (n,)).tolist()
    return torch.stack([data[i:i + ctx] for i in ix]), torch.stack([data[i + 1:i + ctx + 1] for i in ix])


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--iters', type=int, default=7)
    ap.add_argument('--lr', type=float, default=2e-3)
    ap.add_argument('--wd', type=float, default=1.0)
    args = ap.parse_args()
    torch.manual_seed(1337)
    text = 'she sells sea shells by the sea shore; the shells she sells are surely seashells. ' * 4
    chars = sorted(set(text))
    data = torch.tensor([chars.index(c) for c in text])
    model = CharGPT(len(chars))
    decay = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() <= 1]
    opt = Lion([{'params': decay, 'weight_decay': args.wd}, {'params': rest}], lr=args.lr)
    for it in range(args.iters):
        for g in opt.param_groups:
            g['lr'] = args.lr * 0.5 * (1 + math.cos(math.pi * it / args.iters))
        loss = model(*get_batch(data, model.ctx, 8))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print('iter %d: loss %.6f' % (it, loss.item()))
