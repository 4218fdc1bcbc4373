import torch
from torch.utils.data import DataLoader, TensorDataset

from model import MiniCLIP
from trainer import Trainer


def make_pairs(n=64, size=12, length=6, vocab_size=40):
    """a bright square somewhere in the image, its position in the caption"""
    images = 0.1 * torch.randn(n, 1, size, size)
    tokens = torch.randint(2 * size, vocab_size, (n, length))
    for i in range(n):
        r, c = torch.randint(0, size - 3, (2,)).tolist()
        images[i, 0, r:r + 4, c:c + 4] += 1.0 + 0.1 * r
        tokens[i, 0] = r
        tokens[i, 1] = size + c
    return TensorDataset(images, tokens)


def main():
    torch.manual_seed(0)
    loader = DataLoader(make_pairs(), batch_size=16, shuffle=True)
    model = MiniCLIP()
    Trainer(model, loader).fit(6)


if __name__ == '__main__':
    main()
