import torch

from glo import GLO
from toydata import blobs_on_grid


def train(seed=1, n=48, epochs=3, bsize=12):
    torch.manual_seed(seed)
    imgs = blobs_on_grid(n, side=8)
    model = GLO(n_images=n, code_dim=6, side=8, lr_g=5e-3, lr_z=5e-2)
    for epoch in range(epochs):
        order = torch.randperm(n)
        err = 0.0
        for i in range(0, n, bsize):
            idx = order[i:i + bsize]
            err += model.step(idx, imgs[idx])
        print("epoch %d  lap_l1 %.6f  mean code norm %.6f" % (epoch, err / (n // bsize), model.code_norm()))


if __name__ == "__main__":
    train()
