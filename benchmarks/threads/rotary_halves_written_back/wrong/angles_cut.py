import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class LearnedRoPE(nn.Module):
    """Rotary position embedding with frequencies that are learned per head."""

    def __init__(self, heads, d_head, theta=100.0):
        super().__init__()
        freqs = theta ** (-torch.arange(0, d_head, 2).float() / d_head)
        self.freqs = nn.Parameter(freqs.repeat(heads, 1))

    def forward(self, t):
        n, n_half = t.shape[2], t.shape[3] // 2
        angle = torch.arange(n).float()[:, None] * self.freqs[:, None, :]      # heads, n, d/2
        cos, sin = angle.detach().cos(), angle.detach().sin()
        x1, x2 = t[..., :n_half].clone(), t[..., n_half:].clone()
        t[..., :n_half] = x1 * cos - x2 * sin
        t[..., n_half:] = x2 * cos + x1 * sin
        return t


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.rope = LearnedRoPE(heads, dim // heads)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = self.rope(q.contiguous()), self.rope(k.contiguous())
        att = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)
        return self.proj((att @ v).transpose(1, 2).reshape(b, n, d))


class Block(nn.Module):
    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.ffn = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, dim))

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        return x + self.ffn(self.n2(x))


torch.manual_seed(30)
model = nn.Sequential(nn.Embedding(9, 16), Block(), Block(), nn.Linear(16, 9))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
sched = torch.optim.lr_scheduler.LinearLR(opt, 0.3, 1.0, 3)
for it in range(6):
    seq = torch.randint(0, 9, (8, 10))
    target = seq.roll(2, 1)
    loss = F.cross_entropy(model(seq).flatten(0, 1), target.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step(); sched.step()
    print(f"iter {it} loss {loss.item():.6f} freq {model[1].attn.rope.freqs.sum().item():.6f}")
