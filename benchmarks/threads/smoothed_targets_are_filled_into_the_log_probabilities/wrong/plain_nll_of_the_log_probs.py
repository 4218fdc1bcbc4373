"""Copy task for a small encoder-decoder, label smoothing as in the annotated transformer."""
import torch
import torch.nn as nn

V, PAD, BOS = 12, 0, 1
torch.manual_seed(31)


class LabelSmoothing(nn.Module):
    "Implement label smoothing."

    def __init__(self, size, padding_idx, smoothing=0.0):
        super(LabelSmoothing, self).__init__()
        self.criterion = nn.KLDivLoss(reduction="sum")
        self.padding_idx = padding_idx
        self.confidence = 1.0 - smoothing
        self.smoothing = smoothing
        self.size = size

    def forward(self, x, target):
        assert x.size(1) == self.size
        true_dist = x.detach().clone()
        true_dist.fill_(self.smoothing / (self.size - 2))
        true_dist.scatter_(1, target.unsqueeze(1), self.confidence)
        true_dist[:, self.padding_idx] = 0
        true_dist[target == self.padding_idx] = 0.0
        return nn.functional.nll_loss(x, target, ignore_index=self.padding_idx, reduction='sum')


class Generator(nn.Module):
    "Standard linear + softmax generation step."

    def __init__(self, d_model, vocab):
        super().__init__()
        self.proj = nn.Linear(d_model, vocab)

    def forward(self, x):
        return torch.log_softmax(self.proj(x), dim=-1)


class EncoderDecoder(nn.Module):
    def __init__(self, d_model=32):
        super().__init__()
        self.src_embed = nn.Embedding(V, d_model, padding_idx=PAD)
        self.tgt_embed = nn.Embedding(V, d_model, padding_idx=PAD)
        self.encoder = nn.GRU(d_model, d_model, batch_first=True)
        self.decoder = nn.GRU(d_model, d_model, batch_first=True)
        self.generator = Generator(d_model, V)

    def forward(self, src, tgt):
        _, memory = self.encoder(self.src_embed(src))
        out, _ = self.decoder(self.tgt_embed(tgt), memory)
        return out


class SimpleLossCompute:
    "A simple loss compute and train function."

    def __init__(self, generator, criterion, opt=None):
        self.generator = generator
        self.criterion = criterion
        self.opt = opt

    def __call__(self, x, y, norm):
        x = self.generator(x)
        loss = self.criterion(x.contiguous().view(-1, x.size(-1)), y.contiguous().view(-1)) / norm
        if self.opt is not None:
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item() * norm


def data_gen(batch, nbatches, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(nbatches):
        src = torch.randint(2, V, (batch, 6), generator=g)
        length = torch.randint(3, 7, (batch, 1), generator=g)
        src[torch.arange(6).unsqueeze(0) >= length] = PAD
        tgt = torch.cat([torch.full((batch, 1), BOS), src], 1)
        yield src, tgt[:, :-1], tgt[:, 1:]


def run_epoch(data, model, loss_compute):
    total, tokens = 0.0, 0
    for src, tgt, tgt_y in data:
        ntokens = int((tgt_y != PAD).sum())
        total += loss_compute(model(src, tgt), tgt_y, ntokens)
        tokens += ntokens
    return total / tokens


model = EncoderDecoder()
criterion = LabelSmoothing(size=V, padding_idx=PAD, smoothing=0.1)
opt = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98))
for epoch in range(4):
    train = run_epoch(data_gen(24, 12, epoch), model, SimpleLossCompute(model.generator, criterion, opt))
    with torch.no_grad():
        hits, n = 0, 0
        for src, tgt, y in data_gen(24, 3, 99):
            keep = y != PAD
            hits += int((model.generator(model(src, tgt)).argmax(-1)[keep] == y[keep]).sum())
            n += int(keep.sum())
    print("epoch %d loss per token %.6f accuracy %.6f" % (epoch, train, hits / n))
