# reformer-ish char model with reversible layers. memory is constant in depth (that is the hope)
import torch
import torch.nn as nn
import torch.nn.functional as F

from reversible import RevSequence

text = "in einem bächlein helle da schoss in froher eil die launische forelle vorüber wie ein pfeil "
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
ctx_len = 4


class CharModel(nn.Module):
    def __init__(self, dim=12, depth=3):
        super().__init__()
        self.emb = nn.Embedding(len(chars), dim)
        self.mix = nn.Linear(ctx_len * dim, dim)
        self.body = RevSequence(dim, depth, 2 * dim)
        self.head = nn.Linear(dim, len(chars))

    def forward(self, ctx):
        h = self.mix(self.emb(ctx).flatten(1))
        return self.head(self.body(h))


def get_batch(n=16):
    at = torch.randint(0, len(data) - ctx_len - 1, (n,))
    ctx = torch.stack([data[i:i + ctx_len] for i in at.tolist()])
    return ctx, data[at + ctx_len]


torch.manual_seed(1234)
model = CharModel()
opt = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=8)
for it in range(8):
    ctx, tgt = get_batch()
    loss = F.cross_entropy(model(ctx), tgt)
    opt.zero_grad()
    loss.backward()
    total = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    opt.step()
    sched.step()
    print(f"it {it} loss {loss.item():.6f} |g| {total.item():.6f}")
