import torch
import torch.nn as nn
import torch.nn.functional as F


class RecurrentAttention(nn.Module):
    """Attention over the current segment and the memory of the segments before it."""

    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head, self.d_head = n_head, d_model // n_head
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.kv = nn.Linear(d_model, 2 * d_model, bias=False)
        self.o = nn.Linear(d_model, d_model, bias=False)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, h, mem):
        c = h if mem is None else torch.cat([mem, h], 0)
        qlen, klen, bsz = h.size(0), c.size(0), h.size(1)
        q = self.q(h).view(qlen, bsz, self.n_head, self.d_head)
        k, v = self.kv(c).view(klen, bsz, self.n_head, 2 * self.d_head).chunk(2, -1)
        score = torch.einsum("ibnd,jbnd->ijbn", q, k) * self.d_head ** -0.5
        future = torch.ones(qlen, klen).triu(1 + klen - qlen).bool()
        prob = score.masked_fill(future[:, :, None, None], float("-inf")).softmax(1)
        out = torch.einsum("ijbn,jbnd->ibnd", prob, v).reshape(qlen, bsz, -1)
        return self.norm(h + self.o(out))


class MemTransformerLM(nn.Module):
    def __init__(self, n_token, n_layer, d_model, n_head, mem_len):
        super().__init__()
        self.word_emb = nn.Embedding(n_token, d_model)
        self.layers = nn.ModuleList(RecurrentAttention(d_model, n_head) for _ in range(n_layer))
        self.out = nn.Linear(d_model, n_token)
        self.mem_len = mem_len

    def init_mems(self):
        return [None] * len(self.layers)

    def _update_mems(self, hids, mems):
        new = []
        for mem, hid in zip(mems, hids):
            cat = hid if mem is None else torch.cat([mem.detach(), hid], 0)
            new.append(cat[-self.mem_len:])
        return new

    def forward(self, data, target, *mems):
        mems = mems or self.init_mems()
        h, hids = self.word_emb(data), []
        for layer, mem in zip(self.layers, mems):
            hids.append(h)
            h = layer(h, mem)
        loss = F.cross_entropy(self.out(h).flatten(0, 1), target.flatten())
        return [loss] + self._update_mems(hids, mems)
