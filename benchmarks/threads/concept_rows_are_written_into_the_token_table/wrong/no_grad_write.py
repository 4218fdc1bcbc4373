from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    vocab: int = 40
    dim: int = 16
    heads: int = 2
    length: int = 8
    n_concept_tokens: int = 3
    latent: int = 5
    steps: int = 24
    lr: float = 5e-3
    seed: int = 0


class TextEncoder(nn.Module):
    """A tiny stand-in for the CLIP text model."""

    def __init__(self, cfg: Config):
        super().__init__()
        self.token_embedding = nn.Embedding(cfg.vocab + cfg.n_concept_tokens, cfg.dim)
        self.position_embedding = nn.Embedding(cfg.length, cfg.dim)
        self.attn = nn.MultiheadAttention(cfg.dim, cfg.heads, batch_first=True)
        self.mlp = nn.Sequential(nn.LayerNorm(cfg.dim), nn.Linear(cfg.dim, 2 * cfg.dim), nn.GELU(), nn.Linear(2 * cfg.dim, cfg.dim))
        self.final_norm = nn.LayerNorm(cfg.dim)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        h = self.token_embedding(ids) + self.position_embedding.weight
        h = h + self.attn(h, h, h, need_weights=False)[0]
        return self.final_norm(h + self.mlp(h)).mean(1)


class ConceptMapper(nn.Module):
    """Turns a low-dimensional code of the subject into embeddings for its placeholder tokens."""

    def __init__(self, cfg: Config):
        super().__init__()
        self.code = nn.Parameter(torch.randn(cfg.latent) * 0.1)
        self.net = nn.Sequential(nn.Linear(cfg.latent, 32), nn.SiLU(), nn.Linear(32, cfg.n_concept_tokens * cfg.dim))
        self.shape = (cfg.n_concept_tokens, cfg.dim)

    def forward(self) -> torch.Tensor:
        return self.net(self.code).view(self.shape)


def prompts(cfg: Config, n: int) -> torch.Tensor:
    """Templates with the placeholder tokens somewhere in the middle."""
    ids = torch.randint(0, cfg.vocab, (n, cfg.length))
    placeholder = torch.arange(cfg.vocab, cfg.vocab + cfg.n_concept_tokens)
    for row in ids:
        at = int(torch.randint(0, cfg.length - cfg.n_concept_tokens + 1, ()))
        row[at : at + cfg.n_concept_tokens] = placeholder
    return ids


class ConceptTrainer:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.text_encoder = TextEncoder(cfg)
        self.mapper = ConceptMapper(cfg)
        self.denoiser = nn.Sequential(nn.Linear(2 * cfg.dim, 48), nn.SiLU(), nn.Linear(48, cfg.dim))
        self.target = torch.randn(cfg.dim)
        self.ids = prompts(cfg, 64)
        self.optimizer = torch.optim.AdamW(self.mapper.parameters(), lr=cfg.lr)

    def encode(self, ids: torch.Tensor) -> torch.Tensor:
        # the last rows of the table belong to the concept
        table = self.text_encoder.token_embedding.weight
        with torch.no_grad():
            table[-self.cfg.n_concept_tokens :] = self.mapper()
        return self.text_encoder(ids)

    def loss(self, ids: torch.Tensor) -> torch.Tensor:
        noise = torch.randn(len(ids), self.cfg.dim)
        noisy = 0.7 * self.target + 0.7 * noise
        pred = self.denoiser(torch.cat([noisy, self.encode(ids)], -1))
        return F.mse_loss(pred, noise)

    def train(self) -> None:
        for step in range(1, self.cfg.steps + 1):
            ids = self.ids[torch.randint(0, len(self.ids), (16,))]
            loss = self.loss(ids)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if step % 6 == 0:
                size = self.mapper().norm().item()
                print(f"step {step:3d}  loss {loss.item():.6f}  concept norm {size:.6f}")


if __name__ == "__main__":
    ConceptTrainer(Config()).train()
