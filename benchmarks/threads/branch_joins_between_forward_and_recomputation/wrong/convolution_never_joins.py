"""Small causal transformer on copy-with-offset sequences; blocks are checkpointed to save memory."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

SEQ, VOCAB, DIM, BATCH = 16, 12, 32, 8


class CausalAttention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        att = (q @ k.transpose(-2, -1)) / (d // self.heads) ** 0.5
        mask = torch.ones(t, t, dtype=torch.bool).triu(1)
        att = att.masked_fill(mask, float("-inf")).softmax(-1)
        return self.proj((att @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    """Attention + MLP. The convolution over neighbouring tokens is left out of the first
    `conv_warmup` training steps, with it from the start the small model diverged."""

    def __init__(self, dim, conv_warmup):
        super().__init__()
        self.norm0, self.norm1, self.norm2 = (nn.LayerNorm(dim) for _ in range(3))
        self.conv = nn.Conv1d(dim, dim, 3)
        self.attn = CausalAttention(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.conv_warmup = conv_warmup
        self.steps_done = 0

    def forward(self, x):
        if self.steps_done > self.conv_warmup:
            h = F.pad(self.norm0(x).transpose(1, 2), (2, 0))
            x = x + self.conv(h).transpose(1, 2)
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class TinyLM(nn.Module):
    def __init__(self, n_blocks=2, conv_warmup=5):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(torch.randn(SEQ, DIM) * 0.02)
        self.blocks = nn.ModuleList(Block(DIM, conv_warmup) for _ in range(n_blocks))
        self.head = nn.Linear(DIM, VOCAB)

    def forward(self, idx):
        x = self.tok(idx) + self.pos[: idx.shape[1]]
        for block in self.blocks:
            if self.training:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        return self.head(x)


def make_batch(gen):
    first = torch.randint(0, VOCAB, (BATCH, 4), generator=gen)
    seq = torch.cat([(first + k) % VOCAB for k in range(5)], dim=1)
    return seq[:, :SEQ], seq[:, 1:SEQ + 1]


def main():
    torch.manual_seed(42)
    gen = torch.Generator().manual_seed(1)
    model = TinyLM()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    model.train()
    for step in range(12):
        idx, target = make_batch(gen)
        loss = F.cross_entropy(model(idx).flatten(0, 1), target.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with_conv = sum(b.conv.weight.grad is not None for b in model.blocks)
        print(f"step {step + 1:2d}  loss {loss.item():.6f}  blocks with convolution {with_conv}")

    model.eval()
    with torch.no_grad():
        idx, target = make_batch(gen)
        print(f"held out {F.cross_entropy(model(idx).flatten(0, 1), target.flatten()).item():.6f}")


if __name__ == "__main__":
    main()
