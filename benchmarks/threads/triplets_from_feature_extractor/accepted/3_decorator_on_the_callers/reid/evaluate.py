import torch

from .features import extract


@torch.no_grad()
def recall_at_1(model, x, y):
    model.eval()
    emb = extract(model, x)
    sim = emb @ emb.t()
    sim.fill_diagonal_(-2.)
    return (y[sim.argmax(1)] == y).float().mean().item()
