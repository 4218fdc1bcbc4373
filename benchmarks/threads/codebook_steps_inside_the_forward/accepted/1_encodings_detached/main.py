import torch

from data import blobs
from model import Autoencoder
from trainer import Trainer


def main():
    torch.manual_seed(7)
    x = blobs(192)
    model = Autoencoder(x.shape[1], width=32, code_dim=6, num_codes=10, beta=0.5, inplace_lr=0.3)
    Trainer(model, lr=3e-3).fit(x, epochs=5, batch_size=48)


if __name__ == "__main__":
    main()
