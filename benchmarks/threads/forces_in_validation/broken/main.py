import logging

import torch

from hyper.data import UniaxialTests
from hyper.lit import LitStress
from hyper.trainer import MiniTrainer

logging.basicConfig(level=logging.ERROR)

if __name__ == "__main__":
    torch.manual_seed(19910)
    model = LitStress(hidden=16)
    data = UniaxialTests(n=48)
    MiniTrainer(max_epochs=4, batch_size=12).fit(model, data.train(), data.val())
