"""
Retrieval-augmented classifier: the query encoder looks up documents in a fixed index,
the reader answers for each of them, the answers are mixed with the retrieval probabilities.
"""
import argparse
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Retrieved:
    doc_ids: torch.Tensor
    doc_scores: torch.Tensor


class BagEncoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.proj = nn.Linear(dim, dim)

    def forward(self, tokens):
        return self.proj(torch.tanh(self.emb(tokens)))


class DocIndex:
    """Dense index over the corpus. The document encoder is pretrained and stays as it is."""

    def __init__(self, ctx_encoder, corpus, batch_size=8):
        self.ctx_encoder = ctx_encoder.eval()
        self.corpus = corpus
        self.embeddings = self.build(batch_size)

    @torch.no_grad()
    def build(self, batch_size):
        parts = [self.ctx_encoder(chunk) for chunk in self.corpus.split(batch_size)]
        return F.normalize(torch.cat(parts), dim=-1)

    def search(self, query, k):
        scores = query @ self.embeddings.t()
        top = scores.topk(k, dim=-1)
        return Retrieved(top.indices, top.values)


class Reader(nn.Module):
    def __init__(self, vocab, dim, n_classes):
        super().__init__()
        self.encoder = BagEncoder(vocab, dim)
        self.out = nn.Linear(2 * dim, n_classes)

    def forward(self, question, docs):
        b, k, n = docs.shape
        d = self.encoder(docs.reshape(b * k, n)).view(b, k, -1)
        q = self.encoder(question).unsqueeze(1).expand_as(d)
        return self.out(torch.tanh(torch.cat([q, d], -1)))


class RagClassifier(nn.Module):
    def __init__(self, vocab, dim, n_classes, index, k):
        super().__init__()
        self.question_encoder = BagEncoder(vocab, dim)
        self.reader = Reader(vocab, dim, n_classes)
        self.index = index
        self.k = k

    def forward(self, question):
        found = self.index.search(self.question_encoder(question), self.k)
        doc_logp = F.log_softmax(found.doc_scores, dim=-1)
        logp = F.log_softmax(self.reader(question, self.index.corpus[found.doc_ids]), dim=-1)
        return torch.logsumexp(doc_logp.unsqueeze(-1) + logp, dim=1)   # marginalise over documents


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--vocab", type=int, default=40)
    ap.add_argument("--dim", type=int, default=12)
    ap.add_argument("--docs", type=int, default=20)
    ap.add_argument("--k", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--lr", type=float, default=1e-2)
    ap.add_argument("--seed", type=int, default=6)
    args = ap.parse_args()

    torch.manual_seed(args.seed)
    corpus = torch.randint(args.vocab, (args.docs, 6))
    questions = torch.randint(args.vocab, (32, 4))
    answers = questions.sum(1) % 3
    index = DocIndex(BagEncoder(args.vocab, args.dim), corpus)
    model = RagClassifier(args.vocab, args.dim, 3, index, args.k)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        total = 0.0
        for q, a in zip(questions.split(16), answers.split(16)):
            loss = F.nll_loss(model(q), a)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        grad = sum(p.grad.abs().sum().item() for p in model.question_encoder.parameters() if p.grad is not None)
        print(f"epoch {epoch} nll {total / 2:.6f} |grad of question encoder| {grad:.5f}")


if __name__ == "__main__":
    main()
