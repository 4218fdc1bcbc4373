# Text recognition, attention decoder. Two models, one training loop.
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = "abcdef"
EOS = len(VOCAB)


def encode_sequences(words, size):
    out = torch.full((len(words), size), EOS + 1)            # padding
    for i, w in enumerate(words):
        out[i, :len(w)] = torch.tensor([VOCAB.index(c) for c in w])
        out[i, len(w)] = EOS
    return out, torch.tensor([len(w) for w in words])


class CTCReco(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.rnn = nn.GRU(6, dim, batch_first=True)
        self.head = nn.Linear(dim, EOS + 1)

    def forward(self, x, words):
        gt, seq_len = encode_sequences(words, 6)
        logp = self.head(self.rnn(x)[0]).log_softmax(-1).transpose(0, 1)
        lens = torch.full((len(words),), x.shape[1])
        loss = F.ctc_loss(logp, gt.clamp_max(EOS - 1), lens, seq_len, blank=EOS, zero_infinity=True)
        return {"loss": loss}


class SARReco(nn.Module):
    def __init__(self, dim=16, max_len=6):
        super().__init__()
        self.encoder = nn.GRU(6, dim, batch_first=True)
        self.embed = nn.Embedding(EOS + 2, dim)
        self.decoder = nn.GRUCell(2 * dim, dim)
        self.head = nn.Linear(dim, EOS + 1)
        self.max_len = max_len

    def forward(self, x, words):
        feats, h = self.encoder(x)
        h = h[0]
        gt, seq_len = encode_sequences(words, self.max_len)
        prev, logits = torch.full((len(words),), EOS + 1), []
        for t in range(self.max_len):
            att = torch.softmax((feats @ h.unsqueeze(-1)).squeeze(-1), 1)
            glimpse = (att.unsqueeze(-1) * feats).sum(1)
            h = self.decoder(torch.cat([self.embed(prev), glimpse], 1), h)
            logits.append(self.head(h))
            prev = gt[:, t]
        return {"loss": self.compute_loss(torch.stack(logits, 1), gt, seq_len)}

    @staticmethod
    def compute_loss(model_output, gt, seq_len):
        input_len = model_output.shape[1]
        seq_len = seq_len + 1                                   # the EOS counts
        cce = F.cross_entropy(model_output.permute(0, 2, 1), gt.clamp_max(EOS), reduction="none")
        mask = torch.arange(input_len)[None, :] >= seq_len[:, None]
        cce = cce.masked_fill(mask, 0)
        ce_loss = cce.sum(1) / seq_len.to(dtype=torch.float32)
        return ce_loss.mean()


def render(n):
    words = ["".join(VOCAB[int(k)] for k in torch.randint(0, 6, (int(torch.randint(1, 5, ()).item()),))) for _ in range(n)]
    x = 0.3 * torch.randn(n, 10, 6)
    for i, w in enumerate(words):
        for j, c in enumerate(w):
            x[i, 2 * j:2 * j + 2, VOCAB.index(c)] += 1.5
    return x, words


def fit_one_epoch(model, optimizer, steps):
    model.train()
    for _ in range(steps):
        train_loss = model(*render(12))["loss"]
        optimizer.zero_grad()
        train_loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5)
        optimizer.step()


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    return sum(model(*b)["loss"].mean().item() for b in batches) / len(batches)


if __name__ == "__main__":
    torch.manual_seed(379)
    val = [render(12) for _ in range(2)]
    for cls in (CTCReco, SARReco):
        model = cls()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        for epoch in range(3):
            fit_one_epoch(model, optimizer, 3)
            print(f"{cls.__name__} {epoch} val {evaluate(model, val):.5f}")
