import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import OrderedDict

torch.manual_seed(17)
VOCAB, DIM, CLASSES, PAD = 25, 6, 2, 0


class RationaleClassifier(nn.Module):
    """CNN over pretrained word vectors. "Right for the right reasons" (Ross et al.) on the words."""

    def __init__(self, vectors):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(vectors, freeze=False, padding_idx=PAD)
        self.conv = nn.Conv1d(DIM, 8, 3, padding=1)
        self.classifier = nn.Sequential(OrderedDict([
            ('hidden', nn.Linear(8, 8)), ('act', nn.Softplus()), ('out', nn.Linear(8, CLASSES))]))

    def embed(self, tokens):
        # 学習済みベクトルは動かさない (the vectors stay as they are in this phase)
        with torch.no_grad():
            return self.embedding(tokens)

    def encode(self, emb, mask):
        h = F.softplus(self.conv(emb.transpose(1, 2))).transpose(1, 2)
        h = h * mask.unsqueeze(-1)
        return h.sum(1) / mask.sum(1, keepdim=True)

    def forward(self, tokens):
        mask = (tokens != PAD).float()
        emb = self.embed(tokens)
        return self.classifier(self.encode(emb, mask)), emb


class RRRTrainer:
    def __init__(self, model, lr=0.01, reg=1000.0):
        self.model = model
        self.reg = reg
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.history = []

    def input_gradient(self, logits, emb):
        log_probs = F.log_softmax(logits, dim=-1)
        g, = torch.autograd.grad(log_probs.sum(), emb, create_graph=True)
        return g

    def right_reasons(self, logits, emb, irrelevant):
        """Large gradients on words that an annotator marked as irrelevant are punished."""
        if not emb.requires_grad:
            return logits.new_zeros(())
        g = self.input_gradient(logits, emb)
        return (irrelevant.unsqueeze(-1) * g).pow(2).sum((1, 2)).mean()

    def training_step(self, batch):
        tokens, labels, irrelevant = batch
        logits, emb = self.model(tokens)
        answer = F.cross_entropy(logits, labels)
        reason = self.right_reasons(logits, emb, irrelevant)
        loss = answer + self.reg * reason
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.history.append((answer.item(), reason.item()))
        return loss.item()

    @torch.no_grad()
    def accuracy(self, batches):
        hits = [(self.model(t)[0].argmax(1) == y).float().mean() for t, y, _ in batches]
        return torch.stack(hits).mean().item()

    def fit(self, batches, epochs):
        for epoch in range(epochs):
            total = sum(self.training_step(b) for b in batches)
            print(f"[{epoch}] loss {total / len(batches):.6f} reasons {self.history[-1][1]:.6f} acc {self.accuracy(batches):.3f}")


def make_batches(n, size=6, length=7):
    out = []
    for _ in range(n):
        tokens = torch.randint(1, VOCAB, (size, length))
        tokens[: size // 2, -2:] = PAD
        labels = (tokens[:, 0] > VOCAB // 2).long()
        irrelevant = torch.ones(size, length)
        irrelevant[:, 0] = 0
        out.append((tokens, labels, irrelevant * (tokens != PAD)))
    return out


def load_vectors():
    v = torch.randn(VOCAB, DIM)
    v[PAD] = 0
    return v / v.norm(dim=1, keepdim=True).clamp(min=1e-6)


if __name__ == '__main__':
    model = RationaleClassifier(load_vectors())
    trainer = RRRTrainer(model)
    trainer.fit(make_batches(3), epochs=2)
