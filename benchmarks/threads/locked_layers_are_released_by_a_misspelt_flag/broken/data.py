import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset


def get_loaders(batch_size, n_train=320, n_test=96):
    # 6x6 的小图片, 由几个隐变量生成
    rng = np.random.RandomState(7)
    W1, W2 = rng.randn(5, 16), rng.randn(16, 36)

    def make(n):
        z = rng.randn(n, 5)
        x = 1 / (1 + np.exp(-np.tanh(z @ W1) @ W2 * 0.6))
        return torch.tensor(x, dtype=torch.float32)

    g = torch.Generator().manual_seed(1)
    train = DataLoader(TensorDataset(make(n_train)), batch_size, shuffle=True, generator=g)
    test = DataLoader(TensorDataset(make(n_test)), batch_size)
    return train, test
