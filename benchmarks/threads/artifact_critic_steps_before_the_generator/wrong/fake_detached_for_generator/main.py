import torch

from adn.data import spine_like_slices
from adn.model import ADNTrainer
from adn.options import get_options


def main():
    opts = get_options()
    torch.manual_seed(opts["seed"])
    low, high = spine_like_slices(opts["n_slices"], opts["size"])
    trainer = ADNTrainer(**opts["model"])
    for epoch in range(opts["epochs"]):
        for i in range(0, len(low), opts["batch"]):
            losses = trainer.optimize(low[i:i + opts["batch"]], high[i:i + opts["batch"]])
        print("epoch", epoch, " ".join(f"{k}={v:.5f}" for k, v in losses.items()))


if __name__ == "__main__":
    main()
