import numpy as np
import torch

from graph import TinyGraph
from model import GatedGCN
from train import Trainer, TrainConfig


def planted_partition(n_per_block, blocks, p_in, p_out, dim, rng):
    n = n_per_block * blocks
    label = np.repeat(np.arange(blocks), n_per_block)
    prob = np.where(label[:, None] == label[None, :], p_in, p_out)
    src, dst = np.nonzero(rng.uniform(size=(n, n)) < prob)
    g = TinyGraph(src, dst, n)
    means = rng.normal(size=(blocks, dim))
    g.ndata["h"] = torch.tensor(0.5 * means[label] + rng.normal(size=(n, dim)), dtype=torch.float32)
    g.ndata["label"] = torch.tensor(label)
    g.ndata["train_mask"] = torch.tensor(rng.uniform(size=n) < 0.6)
    return g


if __name__ == "__main__":
    torch.manual_seed(11)
    rng = np.random.default_rng(11)
    cfg = TrainConfig(hidden=12, layers=2, classes=3)
    g = planted_partition(14, cfg.classes, 0.35, 0.05, cfg.hidden, rng)
    model = GatedGCN(cfg.hidden, cfg.classes, cfg.layers, dropout=0.0)
    Trainer(model, g, cfg).fit()
