import torch
import torch.nn as nn
import torch.nn.functional as F

"""Infini-attention, linear memory (no delta rule). 一个文档分成若干段, 每段更新一次参数."""


class Config:
    vocab = 16
    dim = 8
    heads = 2
    segment = 6
    n_segments = 4
    docs = 2
    batch = 3
    lr = 1e-2


class InfiniAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.h, self.d = cfg.heads, cfg.dim // cfg.heads
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim, bias=False)
        self.out = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.gate = nn.Parameter(torch.zeros(1, self.h, 1, 1))
        self.reset()

    def reset(self, batch=0):
        self.memory = torch.zeros(batch, self.h, self.d, self.d)
        self.norm_term = torch.zeros(batch, self.h, self.d)

    def _retrieve(self, q):
        sq = F.elu(q) + 1
        num = torch.einsum('bhsd,bhde->bhse', sq, self.memory)
        den = torch.einsum('bhsd,bhd->bhs', sq, self.norm_term).unsqueeze(-1)
        return num / (den + 1e-4)

    def _update_memory(self, k, v):
        sk = F.elu(k) + 1
        self.memory = self.memory + torch.einsum('bhsd,bhse->bhde', sk, v)
        self.norm_term = self.norm_term + sk.sum(dim=2)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = self.qkv(x).view(b, s, 3, self.h, self.d).permute(2, 0, 3, 1, 4)
        local = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        from_memory = self._retrieve(q)
        self._update_memory(k.detach(), v.detach())
        g = torch.sigmoid(self.gate)
        y = g * from_memory + (1 - g) * local
        return self.out(y.transpose(1, 2).reshape(b, s, -1))


class LM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.dim)
        self.attn = InfiniAttention(cfg)
        self.norm = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab)

    def forward(self, ids):
        x = self.embed(ids)
        return self.head(self.norm(x + self.attn(x)))


def documents(cfg):
    length = cfg.segment * cfg.n_segments + 1
    for _ in range(cfg.docs):
        start = torch.randint(0, cfg.vocab, (cfg.batch, 1))
        stride = torch.randint(1, 4, (cfg.batch, 1))
        yield (start + stride * torch.arange(length)) % cfg.vocab


def main():
    torch.manual_seed(31)
    cfg = Config()
    model = LM(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for n, doc in enumerate(documents(cfg)):
        model.attn.reset(cfg.batch)
        losses = []
        for s in range(cfg.n_segments):
            lo = s * cfg.segment
            ids, target = doc[:, lo:lo + cfg.segment], doc[:, lo + 1:lo + cfg.segment + 1]
            logits = model(ids)
            loss = F.cross_entropy(logits.reshape(-1, cfg.vocab), target.reshape(-1))
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            losses.append(loss.item())
        print('doc', n, ' '.join('%.6f' % l for l in losses))


if __name__ == '__main__':
    main()
