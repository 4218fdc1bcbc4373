import numpy as np
import torch


def to_one_hot(inp, num_classes):
    y_onehot = torch.zeros(inp.size(0), num_classes)
    y_onehot.scatter_(1, inp.unsqueeze(1), 1)
    return y_onehot


def get_lambda(alpha=1.0):
    """Return lambda"""
    if alpha > 0.:
        return float(np.random.beta(alpha, alpha))
    return 1.


def mixup_process(out, target_reweighted, lam):
    """convex combination of the hidden states (and targets) with those of a shuffled batch"""
    indices = torch.from_numpy(np.random.permutation(out.size(0)))
    out.mul_(lam).add_(out[indices], alpha=1 - lam)
    target_reweighted = lam * target_reweighted + (1 - lam) * target_reweighted[indices]
    return out, target_reweighted


def load_data(num_classes, n_train=96, n_test=64, size=10):
    rng = np.random.RandomState(0)
    prototypes = rng.randn(num_classes, size, size)

    def draw(n):
        y = rng.randint(num_classes, size=n)
        x = prototypes[y] + 1.2 * rng.randn(n, size, size)
        return torch.from_numpy(x[:, None].astype(np.float32)), torch.from_numpy(y.astype(np.int64))

    train = draw(n_train)
    test = draw(n_test)
    return train[0], train[1], test[0], test[1]
