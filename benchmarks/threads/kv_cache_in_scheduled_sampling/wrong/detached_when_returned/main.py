"""Scheduled sampling: the decoder is fed its own tokens now and then, one by one, with a cache."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from decoder.model import Decoder


@dataclass(frozen=True)
class Config:
    vocab: int = 8
    dim: int = 16
    heads: int = 2
    layers: int = 2
    length: int = 7
    batch: int = 8
    steps: int = 5
    lr: float = 4e-3
    own: float = 0.3


def loss_of(model, seq, cfg, generator):
    caches, token, loss = model.new_cache(len(seq)), seq[:, 0], 0.0
    for t in range(1, cfg.length):
        logits = model.step(token, caches)
        loss = loss + F.cross_entropy(logits, seq[:, t])
        own = torch.rand(len(seq), generator=generator) < cfg.own
        token = torch.where(own, logits.argmax(-1), seq[:, t])
    return loss / (cfg.length - 1)


def main():
    cfg = Config()
    torch.manual_seed(4)
    generator = torch.Generator().manual_seed(5)
    model = Decoder(cfg.vocab, cfg.dim, cfg.heads, cfg.layers, cfg.length)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for step in range(cfg.steps):
        start = torch.randint(0, cfg.vocab, (cfg.batch, 1), generator=generator)
        seq = (start + 3 * torch.arange(cfg.length)) % cfg.vocab
        loss = loss_of(model, seq, cfg, generator)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
