import torch


def toy(n_images, cpi, length=5, vocab=9):
    images = torch.randn(n_images, 6, 10)           # 6 regions
    captions = torch.randint(1, vocab, (n_images, cpi, length))
    return images, captions
