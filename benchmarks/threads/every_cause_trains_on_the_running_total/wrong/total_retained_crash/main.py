import argparse

import torch

from trainer import CompetingRisksTrainer


def cohort(n, covariates, bins, causes):
    x = torch.randn(n, covariates)
    risk = torch.stack([torch.exp(0.7 * x[:, c]) for c in range(causes)], 1)
    t = torch.distributions.Exponential(risk).sample()
    first, cause = t.min(1)
    censor = torch.rand(n) * 2
    event = torch.where(first <= censor, cause + 1, torch.zeros_like(cause))
    time = torch.minimum(first, censor)
    return x, (time * bins / 2).long().clamp(max=bins - 1), event


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--causes", type=int, default=3)
    a = p.parse_args()
    torch.manual_seed(123)
    cfg = dict(covariates=4, width=8, bins=6, causes=a.causes, epochs=a.epochs, batch=a.batch, lr_encoder=5e-3, lr_cause=1e-2)
    data = cohort(48, cfg["covariates"], cfg["bins"], cfg["causes"])
    CompetingRisksTrainer(cfg).fit(*data)
