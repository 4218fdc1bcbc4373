import torch


def make_data(n_train, n_val, dim=6, classes=3, noise=0.4):
    centers = torch.randn(classes, dim) * 1.2

    def draw(n):
        y = torch.randint(0, classes, (n,))
        return centers[y] + torch.randn(n, dim), y

    Xtr, ytr = draw(n_train)
    Xval, yval = draw(n_val)
    flipped = torch.rand(n_train) < noise
    ytr = torch.where(flipped, (ytr + 1) % classes, ytr)
    return Xtr, ytr, flipped, Xval, yval
