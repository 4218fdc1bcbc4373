import numpy as np
import torch


class TwoCrops:
    """Tiny 'images' (8x8) of a few textures; two noisy crops of each."""

    def __init__(self, n=192, n_texture=6, seed=3):
        rng = np.random.RandomState(seed)
        texture = rng.randn(n_texture, 10, 10)
        self.labels = torch.from_numpy(rng.randint(n_texture, size=n))
        self.images = torch.tensor(texture[self.labels.numpy()] + 0.4 * rng.randn(n, 10, 10), dtype=torch.float32)
        self.rng = rng

    def crop(self, img):
        i, j = self.rng.randint(3), self.rng.randint(3)
        out = img[:, i:i + 8, j:j + 8]
        return out + 0.3 * torch.from_numpy(self.rng.randn(*out.shape)).float()

    def loader(self, batch_size):
        perm = self.rng.permutation(len(self.images))
        for k in range(0, len(perm), batch_size):
            img = self.images[perm[k:k + batch_size]]
            yield [self.crop(img).flatten(1), self.crop(img).flatten(1)]
