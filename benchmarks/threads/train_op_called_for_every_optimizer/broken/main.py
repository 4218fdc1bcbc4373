import argparse

import torch

from models import AttentionSeq2Seq
from trainer import MultiOptimTrainer


def toy_pairs(n, src_len, tgt_len, vocab):
    src = torch.randint(3, vocab, (n, src_len))
    tgt = src.flip(1)[:, :tgt_len]
    bos = torch.full((n, 1), 1, dtype=torch.long)
    return src, torch.cat([bos, tgt], dim=1)


def parse():
    p = argparse.ArgumentParser("reverse the sentence")
    p.add_argument("--vocab", type=int, default=18)
    p.add_argument("--hidden", type=int, default=14)
    p.add_argument("--enc-lr", type=float, default=0.004)
    p.add_argument("--dec-lr", type=float, default=0.02)   # decoder learns faster
    p.add_argument("--clip", type=float, default=5.0)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--teacher-forcing", type=float, default=1.0)
    return p.parse_args()


if __name__ == "__main__":
    cfg = parse()
    torch.manual_seed(5)
    src, tgt = toy_pairs(24, 6, 5, cfg.vocab)
    batches = [(src[i:i + 8], tgt[i:i + 8]) for i in range(0, 24, 8)]
    model = AttentionSeq2Seq(cfg.vocab, cfg.hidden)
    trainer = MultiOptimTrainer(cfg, model)
    for epoch in range(cfg.epochs):
        print("epoch", epoch, "nll", round(trainer.train_epoch(batches), 6))
