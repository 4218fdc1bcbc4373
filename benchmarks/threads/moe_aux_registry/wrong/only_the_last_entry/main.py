import torch
from torch import nn
from torch.nn import functional as F

import aux
from layers import Block

VOCAB, DIM, SEQ = 20, 16, 12


class TinyMoELM(nn.Module):
    def __init__(self, depth=2, n_experts=4):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(0.02 * torch.randn(SEQ, DIM))
        self.blocks = nn.ModuleList(Block(DIM, 2, hidden=24, n_experts=n_experts, tag=f"l{i}") for i in range(depth))
        self.head = nn.Linear(DIM, VOCAB)
        self.register_buffer("mask", torch.triu(torch.full((SEQ, SEQ), float("-inf")), 1))

    def forward(self, ids):
        h = self.tok(ids) + self.pos
        for block in self.blocks:
            h = block(h, self.mask)
        return self.head(h)


def batch(n=8):
    start = torch.randint(0, VOCAB, (n, 1))
    step = torch.randint(1, 4, (n, 1))
    seq = (start + step * torch.arange(SEQ + 1)) % VOCAB
    return seq[:, :-1], seq[:, 1:]


class Trainer:
    def __init__(self, model, lr=5e-3, clip=1.0):
        self.model, self.clip = model, clip
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)

    def step(self, ids, labels):
        logits = self.model(ids)
        ce = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        side = aux.total()
        self.opt.zero_grad(set_to_none=True)
        (ce + side).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.opt.step()
        return ce.item(), float(side)


if __name__ == "__main__":
    torch.manual_seed(7)
    trainer = Trainer(TinyMoELM())
    for it in range(8):
        ce, side = trainer.step(*batch())
        print(f"{it} ce {ce:.5f} aux {side:.5f}")
