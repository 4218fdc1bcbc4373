# Toy character language model, after the "annotated" style of writing a transformer.
# exported from a notebook
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)

# In[2]:
text = ("the quick brown fox jumps over the lazy dog while the small cat sleeps near the old "
        "stove and the slow snail climbs along the garden wall to see the red moon rise ") * 3
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
V = len(chars)
BLOCK = 24


def get_batch(bs=16):
    ix = torch.randint(0, len(data) - BLOCK - 1, (bs,))
    x = torch.stack([data[i:i + BLOCK] for i in ix])
    y = torch.stack([data[i + 1:i + BLOCK + 1] for i in ix])
    return x, y


# In[3]:
def clones(module, N):
    "Produce N identical layers."
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


class RelativeAttention(nn.Module):
    "Causal self attention with a learned bias for each distance."

    def __init__(self, h, d_model, max_len):
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.bias = nn.Parameter(torch.zeros(h, max_len))
        nn.init.normal_(self.bias, std=0.02)
        pos = torch.arange(max_len)
        self.register_buffer("dist", (pos[:, None] - pos[None, :]).clamp(min=0))
        self.register_buffer("future", torch.triu(torch.ones(max_len, max_len), 1).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.h, self.d_k).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        scores = scores + self.bias[:, self.dist[:T, :T]]
        scores = scores.masked_fill(self.future[:T, :T], float("-inf"))
        out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)
        return self.proj(out)


class DecoderLayer(nn.Module):
    def __init__(self, d_model, attn):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attn = attn
        self.ff = nn.Sequential(nn.Linear(d_model, 2 * d_model), nn.GELU(), nn.Linear(2 * d_model, d_model))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.ff(self.norm2(x))


class CharLM(nn.Module):
    def __init__(self, vocab, d_model=32, h=4, N=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.layers = clones(DecoderLayer(d_model, RelativeAttention(h, d_model, BLOCK)), N)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab)

    def forward(self, x):
        x = self.embed(x)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


# In[4]:
model = CharLM(V)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

for step in range(60):
    x, y = get_batch()
    loss = F.cross_entropy(model(x).view(-1, V), y.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 15 == 14:
        print("step %d loss %.6f bias %.6f" % (step + 1, loss.item(), model.layers[0].attn.bias.norm().item()))
