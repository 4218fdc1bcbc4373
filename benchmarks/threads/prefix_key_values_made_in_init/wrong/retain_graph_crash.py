"""Prefix tuning on top of a frozen toy decoder, following Li & Liang: P = MLP(P'), only P' and the MLP (and
the little classifier) are trained.  After the training the MLP is thrown away and only P is kept.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

D, H, LAYERS, PREFIX = 16, 2, 2, 3


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)

    def heads(self, t):
        return t.view(t.size(0), -1, H, D // H).transpose(1, 2)

    def forward(self, x, past=None):
        q, k, v = map(self.heads, self.qkv(x).chunk(3, dim=-1))
        if past is not None:
            k = torch.cat([past[0].expand(x.size(0), -1, -1, -1), k], dim=2)
            v = torch.cat([past[1].expand(x.size(0), -1, -1, -1), v], dim=2)
        w = q @ k.transpose(-1, -2) / math.sqrt(D // H)
        out = w.softmax(-1) @ v
        return self.proj(out.transpose(1, 2).reshape(x.size(0), -1, D))


class Backbone(nn.Module):
    def __init__(self, vocab=30):
        super().__init__()
        self.wte = nn.Embedding(vocab, D)
        self.attn = nn.ModuleList(Attention() for _ in range(LAYERS))
        self.ln = nn.ModuleList(nn.LayerNorm(D) for _ in range(LAYERS))

    def forward(self, ids, past_key_values):
        h = self.wte(ids)
        for ln, attn, past in zip(self.ln, self.attn, past_key_values):
            h = h + attn(ln(h), past)
        return h.mean(1)


class PrefixEncoder(nn.Module):
    def __init__(self, mid=20, projection=True):
        super().__init__()
        self.projection = projection
        self.wte = nn.Parameter(torch.randn(PREFIX, D) * 0.5)
        self.mlp = nn.Sequential(nn.Linear(D, mid), nn.Tanh(), nn.Linear(mid, LAYERS * 2 * D))
        # the prefix does not depend on the input, so we can prepare the key/values here
        self.past_key_values = self.make_past()

    def make_past(self):
        p = self.mlp(self.wte)
        p = p.view(PREFIX, LAYERS, 2, H, D // H).permute(1, 2, 3, 0, 4).unsqueeze(2)
        return [(layer[0], layer[1]) for layer in p]


class PrefixClassifier(nn.Module):
    def __init__(self, backbone, n_labels=3):
        super().__init__()
        self.backbone = backbone
        for p in self.backbone.parameters():
            p.requires_grad = False
        self.prefix = PrefixEncoder()
        self.head = nn.Linear(D, n_labels)

    def forward(self, ids):
        feats = self.backbone(ids, self.prefix.past_key_values)
        return self.head(feats)


def batches(n):
    for _ in range(n):
        ids = torch.randint(0, 30, (8, 6))
        yield ids, ids.sum(1) % 3


def train():
    torch.manual_seed(0)
    model = PrefixClassifier(Backbone())
    trainable = [p for p in model.parameters() if p.requires_grad]
    optim = torch.optim.AdamW(trainable, lr=2e-2)
    print('trainable %.1f' % float(sum(p.numel() for p in trainable)))
    for step, (ids, y) in enumerate(batches(8)):
        optim.zero_grad()
        loss = F.cross_entropy(model(ids), y)
        loss.backward(retain_graph=True)
        optim.step()
        print('step %d  loss %.6f' % (step, loss.item()))
    with torch.no_grad():
        final = model.prefix.make_past()
    print('prefix norm %.6f' % sum(k.norm() + v.norm() for k, v in final).item())


if __name__ == '__main__':
    train()
