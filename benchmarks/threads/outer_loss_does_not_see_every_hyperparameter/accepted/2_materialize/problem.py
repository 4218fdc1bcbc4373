import torch
from torch.nn import functional as F


class CrossValidatedRegression:
    def __init__(self, n_train, n_val, n_features, n_classes):
        g = torch.Generator().manual_seed(123)
        self.shape = (n_features, n_classes)
        w = torch.randn(*self.shape, generator=g)
        w[n_features // 2:] = 0  # half of the features are noise
        x = torch.randn(n_train + n_val, n_features, generator=g)
        y = (x @ w + torch.randn(len(x), n_classes, generator=g)).argmax(1)
        self.train, self.val = (x[:n_train], y[:n_train]), (x[n_train:], y[n_train:])

    def initial_weights(self):
        return [torch.zeros(*self.shape), torch.zeros(self.shape[1])]

    def logits(self, x, params, hparams):
        w, b = params
        return (x @ w + b) / hparams[1].exp()

    def inner_loss(self, params, hparams):
        x, y = self.train
        penalty = (hparams[0].exp()[:, None] * params[0].pow(2)).sum()
        return F.cross_entropy(self.logits(x, params, hparams), y) + 0.5 * penalty

    def outer_loss(self, params, hparams):
        x, y = self.val
        return F.cross_entropy(self.logits(x, params, hparams), y)
