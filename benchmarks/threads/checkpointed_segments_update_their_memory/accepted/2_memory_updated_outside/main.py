import argparse

import torch
from corpus import Corpus
from model import SegmentLM


class Runner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.corpus = Corpus(cfg.seed, cfg.batch)
        self.model = SegmentLM(self.corpus.vocab, cfg.dim, cfg.layers, cfg.memory, checkpointing=not cfg.no_checkpoint)
        self.optim = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def train_epoch(self):
        self.model.reset_memory()            # each epoch starts at the beginning of the text
        total, n = 0.0, 0
        for x, y in self.corpus.segments(self.cfg.seg):
            loss = self.model.loss(x, y)
            self.optim.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optim.step()
            total, n = total + loss.item(), n + 1
        return total / n

    @torch.no_grad()
    def evaluate(self):
        self.model.reset_memory()
        losses = [self.model.loss(x, y).item() for x, y in self.corpus.segments(self.cfg.seg)]
        return sum(losses) / len(losses)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--layers", type=int, default=2)
    ap.add_argument("--memory", type=int, default=12)
    ap.add_argument("--seg", type=int, default=8)
    ap.add_argument("--batch", type=int, default=4)
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--no-checkpoint", action="store_true")
    ap.add_argument("--seed", type=int, default=1)
    cfg = ap.parse_args()
    torch.manual_seed(cfg.seed)
    r = Runner(cfg)
    for e in range(cfg.epochs):
        print(f"epoch {e}: train {r.train_epoch():.6f}")
    print(f"eval {r.evaluate():.6f}")
