"""Adversarial training of a bag-of-words sentiment model with HotFlip substitutions (one token per sentence)."""
import argparse
import logging
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
log = logging.getLogger("hotflip")


class TextCNN(nn.Module):
    def __init__(self, vocab, dim=12, filters=10, n_classes=2):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, filters, 3, padding=1)
        self.out = nn.Linear(filters, n_classes)

    def encode(self, emb):
        h = F.relu(self.conv(emb.transpose(1, 2)))
        return self.out(h.max(dim=2).values)

    def forward(self, ids):
        return self.encode(self.embedding(ids))


class HotFlip:
    """Swaps the token whose replacement raises the loss most, to first order:
    (e_new - e_old) . dL/de_old
    """

    def __init__(self, model, n_special=2):
        self.model = model
        self.n_special = n_special

    def __call__(self, ids, labels):
        emb = self.model.embedding(ids)
        loss = F.cross_entropy(self.model.encode(emb), labels)
        grad, = torch.autograd.grad(loss, emb)

        table = self.model.embedding.weight.detach()
        gain = grad @ table.t() - (grad * table[ids]).sum(-1, keepdim=True)
        gain[:, :, :self.n_special] = -float("inf")
        gain[ids == 0] = -float("inf")
        best = gain.flatten(1).argmax(dim=1)
        where, what = best // table.shape[0], best % table.shape[0]
        flipped = ids.clone()
        flipped[torch.arange(len(ids)), where] = what
        return flipped


def make_batch(n, length, vocab, gen):
    labels = torch.randint(0, 2, (n,), generator=gen)
    ids = torch.randint(12, vocab, (n, length), generator=gen)
    cue = 2 + labels * 5 + torch.randint(0, 5, (n,), generator=gen)
    ids[torch.arange(n), torch.randint(0, length - 2, (n,), generator=gen)] = cue
    ids[torch.rand(n, generator=gen) < 0.4, -2:] = 0
    return ids, labels


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=9)
    ap.add_argument("--alpha", type=float, default=0.5, help="share of the adversarial loss")
    ap.add_argument("--lr", type=float, default=1e-2)
    args = ap.parse_args()

    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(8)
    model = TextCNN(vocab=40)
    attack = HotFlip(model)
    optim = torch.optim.Adam(model.parameters(), lr=args.lr)

    for step in range(1, args.steps + 1):
        ids, labels = make_batch(24, 9, 40, gen)
        optim.zero_grad()
        adv = attack(ids, labels)
        clean_loss = F.cross_entropy(model(ids), labels)
        adv_loss = F.cross_entropy(model(adv), labels)
        loss = (1 - args.alpha) * clean_loss + args.alpha * adv_loss
        loss.backward()
        optim.step()
        if step % 3 == 0:
            log.info("step %d  clean %.6f  adversarial %.6f  changed %d", step, clean_loss.item(), adv_loss.item(), (adv != ids).sum().item())

    ids, labels = make_batch(60, 9, 40, gen)
    with torch.no_grad():
        log.info("accuracy %.4f", (model(ids).argmax(1) == labels).float().mean().item())
    log.info("embedding %.6f", model.embedding.weight.norm().item())


if __name__ == "__main__":
    main()
