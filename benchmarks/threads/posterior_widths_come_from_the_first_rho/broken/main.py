import torch
from torch.utils.data import DataLoader, TensorDataset

from bnn.network import BayesianMLP
from experiment import Experiment

SEED = 5


def sensor_data(n):
    """Noisy calibration curve with a gap in the middle."""
    x = torch.cat([torch.rand(n // 2) * 1.2 - 2.0, torch.rand(n - n // 2) * 1.2 + 0.8])
    y = torch.sin(2 * x) + 0.3 * x + 0.1 * torch.randn(n)
    return x[:, None], y[:, None]


if __name__ == '__main__':
    torch.manual_seed(SEED)
    x, y = sensor_data(160)
    loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
    net = BayesianMLP([1, 24, 24, 1], prior_std=1.0)
    exp = Experiment(net, loader, lr=1e-2, samples=2, noise_std=0.1)
    exp.run(epochs=5)
    inside, outside = exp.uncertainty(torch.tensor([[-1.5], [1.5]])), exp.uncertainty(torch.tensor([[0.0], [3.5]]))
    print('predictive std near the data %.4f, away from it %.4f' % (inside, outside))
