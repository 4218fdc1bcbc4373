# -*- coding: utf-8 -*-
# 说话人识别, SincNet 第一层 (low_hz / band_hz 可学习)
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class SincConv(nn.Module):
    def __init__(self, out_channels, kernel_size, sample_rate=400, min_low_hz=5., min_band_hz=5.):
        super(SincConv, self).__init__()
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.min_low_hz = min_low_hz
        self.min_band_hz = min_band_hz
        self.sample_rate = sample_rate
        hz = torch.linspace(10., sample_rate / 2 - 40., out_channels + 1)
        self.low_hz_ = nn.Parameter(hz[:-1].view(-1, 1))
        self.band_hz_ = nn.Parameter((hz[1:] - hz[:-1]).view(-1, 1))
        n = (kernel_size - 1) / 2.0
        self.register_buffer('n_', 2 * math.pi * torch.arange(-n, 0).view(1, -1) / sample_rate)
        self.register_buffer('window_', torch.hamming_window(kernel_size)[:int(n)])

    def get_filters(self):
        low = self.min_low_hz + torch.abs(self.low_hz_)
        high = torch.clamp(low + self.min_band_hz + torch.abs(self.band_hz_), self.min_low_hz, self.sample_rate / 2)
        band = (high - low)[:, 0]
        f_low, f_high = torch.matmul(low, self.n_), torch.matmul(high, self.n_)
        left = ((torch.sin(f_high) - torch.sin(f_low)) / (self.n_ / 2)) * self.window_
        center = 2 * band.view(-1, 1)
        right = torch.flip(left, dims=[1])
        band_pass = torch.cat([left, center, right], dim=1) / (2 * band[:, None])
        return band_pass.view(self.out_channels, 1, self.kernel_size)

    def forward(self, waveforms):
        return F.conv1d(waveforms, self.get_filters())


class SincNet(nn.Module):
    def __init__(self, n_speakers):
        super(SincNet, self).__init__()
        self.sinc = SincConv(8, 31)
        self.norm = nn.BatchNorm1d(8)
        self.conv = nn.Conv1d(8, 12, 5, stride=2)
        self.fc = nn.Linear(12, n_speakers)

    def forward(self, x):
        x = F.leaky_relu(self.norm(F.max_pool1d(torch.abs(self.sinc(x)), 3)), 0.2)
        x = F.leaky_relu(self.conv(x), 0.2)
        return self.fc(x.mean(-1))


def batch(n, n_speakers):
    y = torch.randint(0, n_speakers, (n,))
    t = torch.arange(200) / 400.
    x = torch.sin(2 * math.pi * (30. + 25. * y[:, None]) * t) + 0.3 * torch.randn(n, 200)
    return x.unsqueeze(1), y


if __name__ == '__main__':
    torch.manual_seed(1)
    net = SincNet(4)
    # sinc 层用单独的学习率
    optimizer = torch.optim.RMSprop([
        {'params': net.sinc.parameters(), 'lr': 5e-1},
        {'params': [p for n, p in net.named_parameters() if not n.startswith('sinc.')], 'lr': 2e-3}])
    for it in range(8):
        x, y = batch(16, 4)
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 2 == 1:
            print('iter %d loss %.5f  low_hz %.4f' % (it, loss.item(), net.sinc.low_hz_.abs().mean().item()))
