"""Writing-editing: an abstract is written from a title, then edited again and again.

A pass reads the title and the draft that the former pass left on the paper, and
is trained on the reference before the next pass starts.
"""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class FbSeq2Seq(nn.Module):
    def __init__(self, vocab=14, dim=16):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.encoder_title = nn.GRU(dim, dim, batch_first=True)
        self.encoder_draft = nn.GRU(dim, dim, batch_first=True)
        self.decoder = nn.GRU(2 * dim, dim, batch_first=True)
        self.gate = nn.Linear(2 * dim, dim)
        self.out = nn.Linear(dim, vocab)

    def read_draft(self, draft):
        # draft: batch x length x vocab, how sure the writer was of every word
        return self.encoder_draft(draft @ self.embedding.weight)[1][0]

    def forward(self, title, target, draft=None):
        h = self.encoder_title(self.embedding(title))[1]
        extra = torch.zeros_like(h[0]) if draft is None else self.read_draft(draft)
        extra = extra * torch.sigmoid(self.gate(torch.cat([h[0], extra], 1)))
        start = torch.zeros_like(target[:, :1])
        x = self.embedding(torch.cat([start, target[:, :-1]], 1))
        x = torch.cat([x, extra.unsqueeze(1).expand_as(x)], 2)
        return self.out(self.decoder(x, h)[0])


class SupervisedTrainer(object):
    def __init__(self, model, lr, num_exams):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.num_exams = num_exams

    def _train_batch(self, title, target, draft):
        logits = self.model(title, target, draft)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        self.model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 2.0)
        self.optimizer.step()
        return loss.item(), F.softmax(logits, dim=2)

    def train_epoch(self, batches):
        history = []
        for title, target in batches:
            prev_generated_seq = None
            losses = []
            for _ in range(1):
                loss, prev_generated_seq = self._train_batch(title, target, prev_generated_seq)
                losses.append(loss)
            history.append(losses)
        return history


def papers(n, batch, vocab, seed):
    g = torch.Generator().manual_seed(seed)
    for _ in range(n):
        title = torch.randint(1, vocab, (batch, 3), generator=g)
        yield title, torch.cat([title.flip(1), (title + 1) % vocab, title[:, :1]], 1)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--num_exams', type=int, default=3)
    parser.add_argument('--lr', type=float, default=0.01)
    parser.add_argument('--seed', type=int, default=6)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer = SupervisedTrainer(FbSeq2Seq(), args.lr, args.num_exams)
    for i, losses in enumerate(trainer.train_epoch(papers(5, 8, 14, args.seed))):
        print('batch', i, ' '.join('pass %d: %.6f' % (k + 1, l) for k, l in enumerate(losses)))
