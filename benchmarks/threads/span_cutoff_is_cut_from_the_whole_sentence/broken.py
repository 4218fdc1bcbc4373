"""Text classification with span cutoff: the views' predictions should agree with those of the whole sentence."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
VOCAB, WIDTH, LENGTH, CLASSES, VIEWS = 30, 16, 10, 3, 2


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, h):
        att = self.query(h) @ self.key(h).transpose(1, 2) / WIDTH**0.5
        return self.norm(h + att.softmax(-1) @ self.value(h)).mean(1)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCAB, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.encoder = Encoder()
        self.head = nn.Linear(WIDTH, CLASSES)

    def embed(self, ids):
        return self.words(ids) + self.places(torch.arange(ids.shape[1]))

    def predict(self, h):
        return self.head(self.encoder(h))


def span_cutoff(h, ratio=0.3):
    """Removes one span per sentence from the embeddings."""
    width = max(1, int(ratio * h.shape[1]))
    for b in range(h.shape[0]):
        start = torch.randint(0, h.shape[1] - width + 1, ()).item()
        h[b, start : start + width] = 0.0
    return h


def agreement(logits, others):
    """Jensen-Shannon divergence between the whole sentence and its views."""
    probs = [p.softmax(-1) for p in (logits, *others)]
    mean = (sum(probs) / len(probs)).clamp_min(1e-7)
    return sum((p * (p.clamp_min(1e-7).log() - mean.log())).sum(-1).mean() for p in probs) / len(probs)


def make_data(n):
    ids = torch.randint(0, VOCAB, (n, LENGTH))
    labels = ((ids < 10).sum(1) > 3).long() + ((ids > 24).sum(1) > 2).long()
    return ids, labels


def main():
    model = Classifier()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    ids, labels = make_data(128)
    for epoch in range(3):
        for idx in torch.arange(128).split(32):
            h = model.embed(ids[idx])
            logits = model.predict(h)
            views = [model.predict(span_cutoff(h)) for _ in range(VIEWS)]
            supervised = F.cross_entropy(logits, labels[idx])
            cutoff = sum(F.cross_entropy(v, labels[idx]) for v in views) / VIEWS
            js = agreement(logits, views)
            loss = supervised + cutoff + js
            opt.zero_grad()
            loss.backward()
            opt.step()
        between = (views[0] - views[1]).abs().mean().item()
        print(f"epoch {epoch} ce {supervised.item():.4f} cutoff {cutoff.item():.4f} js {js.item():.5f} views differ {between:.4f}")


if __name__ == "__main__":
    main()
