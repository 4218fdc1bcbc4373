import torch
import torch.nn.functional as F


class SignalDataset:
    def __init__(self, opt):
        self.iters = opt.iters

    def __iter__(self):
        for _ in range(self.iters):
            t = torch.linspace(0, 1, 32)
            f = 2 + 4 * torch.rand(8, 1, 1)
            hr = torch.sin(6.28 * f * t + 6.28 * torch.rand(8, 1, 1))
            lr = F.interpolate(F.avg_pool1d(hr, 4), scale_factor=4, mode='linear')
            yield {'A': lr, 'B': hr}
