import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ModelArgs:
    dim: int = 16
    n_heads: int = 2
    n_layers: int = 2
    vocab_size: int = 12
    max_seq_len: int = 10
    max_batch_size: int = 8


class Attention(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.n_heads = args.n_heads
        self.head_dim = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.dim, bias=False)
        self.wk = nn.Linear(args.dim, args.dim, bias=False)
        self.wv = nn.Linear(args.dim, args.dim, bias=False)
        self.wo = nn.Linear(args.dim, args.dim, bias=False)
        # (bs, heads, seq, head_dim), saves the transpose of the original code
        self.shape = (args.max_batch_size, args.n_heads, args.max_seq_len, self.head_dim)
        self.reset()

    def reset(self):
        self.cache_k = torch.zeros(self.shape)
        self.cache_v = torch.zeros(self.shape)

    def forward(self, x, start_pos: int):
        bsz, seqlen, _ = x.shape
        xq = self.wq(x).view(bsz, seqlen, self.n_heads, self.head_dim).transpose(1, 2)
        xk = self.wk(x).view(bsz, seqlen, self.n_heads, self.head_dim).transpose(1, 2)
        xv = self.wv(x).view(bsz, seqlen, self.n_heads, self.head_dim).transpose(1, 2)

        self.cache_k[:bsz, :, start_pos : start_pos + seqlen] = xk.detach()
        self.cache_v[:bsz, :, start_pos : start_pos + seqlen] = xv.detach()
        keys = torch.cat([self.cache_k[:bsz, :, :start_pos].detach().clone(), xk], dim=2)
        values = torch.cat([self.cache_v[:bsz, :, :start_pos].detach().clone(), xv], dim=2)

        scores = torch.matmul(xq, keys.transpose(2, 3)) / math.sqrt(self.head_dim)
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)
        output = torch.matmul(scores, values)
        return self.wo(output.transpose(1, 2).reshape(bsz, seqlen, -1))


class Block(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.attention = Attention(args)
        self.norm1 = nn.LayerNorm(args.dim)
        self.norm2 = nn.LayerNorm(args.dim)
        self.ff = nn.Sequential(nn.Linear(args.dim, 2 * args.dim), nn.SiLU(), nn.Linear(2 * args.dim, args.dim))

    def forward(self, x, start_pos):
        h = x + self.attention(self.norm1(x), start_pos)
        return h + self.ff(self.norm2(h))


class Transformer(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.args = args
        self.tok = nn.Embedding(args.vocab_size, args.dim)
        self.pos = nn.Embedding(args.max_seq_len, args.dim)
        self.layers = nn.ModuleList(Block(args) for _ in range(args.n_layers))
        self.output = nn.Linear(args.dim, args.vocab_size, bias=False)

    def reset_cache(self):
        for layer in self.layers:
            layer.attention.reset()

    def forward(self, tokens, start_pos: int):
        h = self.tok(tokens) + self.pos.weight[start_pos : start_pos + tokens.size(1)]
        for layer in self.layers:
            h = layer(h, start_pos)
        return self.output(h)[:, -1]
