import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

# EEGNet（运动想象，二分类），权重约束照搬 Keras 的 max_norm
# 数据是模拟的 8 通道脑电


class Conv2dWithConstraint(nn.Conv2d):
    def __init__(self, *args, max_norm=1.0, **kwargs):
        self.max_norm = max_norm
        super().__init__(*args, **kwargs)

    def forward(self, x):
        with torch.no_grad():
            self.weight.renorm_(p=2, dim=0, maxnorm=self.max_norm)
            return super().forward(x)
        return super().forward(x)


class LinearWithConstraint(nn.Linear):
    def __init__(self, *args, max_norm=0.25, **kwargs):
        self.max_norm = max_norm
        super().__init__(*args, **kwargs)

    def forward(self, x):
        with torch.no_grad():
            self.weight.renorm_(p=2, dim=0, maxnorm=self.max_norm)
        return super().forward(x)


class EEGNet(nn.Module):
    def __init__(self, chans=8, samples=64, n_classes=2, F1=4, D=2, F2=8, kern=15, drop=0.25):
        super().__init__()
        self.temporal = nn.Sequential(nn.Conv2d(1, F1, (1, kern), padding='same', bias=False), nn.BatchNorm2d(F1))
        self.spatial = nn.Sequential(
            Conv2dWithConstraint(F1, F1 * D, (chans, 1), groups=F1, bias=False, max_norm=1.0),
            nn.BatchNorm2d(F1 * D), nn.ELU(), nn.AvgPool2d((1, 4)), nn.Dropout(drop))
        self.separable = nn.Sequential(
            nn.Conv2d(F1 * D, F1 * D, (1, 7), padding='same', groups=F1 * D, bias=False),
            nn.Conv2d(F1 * D, F2, 1, bias=False), nn.BatchNorm2d(F2), nn.ELU(), nn.AvgPool2d((1, 4)), nn.Dropout(drop))
        self.fc = LinearWithConstraint(F2 * (samples // 16), n_classes, max_norm=0.25)

    def forward(self, x):
        x = self.temporal(x.unsqueeze(1))
        x = self.spatial(x)
        x = self.separable(x)
        return self.fc(x.flatten(1))


def simulate(n, rng):
    t = np.arange(64) / 64.0
    y = rng.randint(0, 2, n)
    x = rng.randn(n, 8, 64)
    for i in range(n):
        ch = slice(0, 4) if y[i] == 0 else slice(4, 8)
        x[i, ch] += 1.5 * np.sin(2 * np.pi * 10 * t + rng.rand() * 6)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def run_epoch(net, x, y, optimizer=None, batch=16):
    net.train(optimizer is not None)
    total, hits = 0.0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for i in range(0, len(x), batch):
            out = net(x[i:i + batch])
            loss = F.cross_entropy(out, y[i:i + batch])
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(out)
            hits += (out.argmax(1) == y[i:i + batch]).sum().item()
    return total / len(x), hits / len(x)


torch.manual_seed(42)
rng = np.random.RandomState(42)
x_train, y_train = simulate(48, rng)
x_val, y_val = simulate(32, rng)

net = EEGNet()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(4):
    tl, ta = run_epoch(net, x_train, y_train, optimizer)
    vl, va = run_epoch(net, x_val, y_val)
    print('epoch %d train %.6f %.3f val %.6f %.3f' % (epoch, tl, ta, vl, va))
print('spatial norm %.6f' % net.spatial[0].weight.norm().item())
