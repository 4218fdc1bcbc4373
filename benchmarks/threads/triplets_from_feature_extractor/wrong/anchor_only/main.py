from dataclasses import dataclass

import torch

from reid.data import identities
from reid.model import Encoder
from reid.train import TripletTrainer


@dataclass
class Config:
    lr: float = 0.05
    margin: float = 0.3
    epochs: int = 2
    dim: int = 6
    seed: int = 8


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    data, query = identities(4, batches=3)
    model = Encoder(5, cfg.dim)
    TripletTrainer(model, cfg).fit(data, query)


if __name__ == '__main__':
    main()
