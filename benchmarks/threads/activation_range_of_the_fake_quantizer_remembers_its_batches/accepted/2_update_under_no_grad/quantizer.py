import torch
import torch.nn as nn


def round_ste(x):
    # 直通估计: 前向取整, 反向当作恒等
    return x + (torch.round(x) - x).detach()


class ActQuantizer(nn.Module):
    """激活值的伪量化.

    amax 是滑动平均的统计量 (和 BN 的 running_mean 一样, 不参与训练),
    训练时更新, 测试时固定.
    """

    def __init__(self, num_bits=8, momentum=0.9):
        super(ActQuantizer, self).__init__()
        self.qmax = 2 ** num_bits - 1
        self.momentum = momentum
        self.register_buffer('amax', torch.tensor(0.))

    @torch.no_grad()
    def update(self, x):
        cur = x.max()
        if self.amax == 0:
            self.amax = cur
        else:
            self.amax = self.momentum * self.amax + (1 - self.momentum) * cur

    def forward(self, x):
        if self.training:
            self.update(x)
        scale = self.amax / self.qmax + 1e-8
        q = torch.clamp(round_ste(x / scale), 0, self.qmax)
        return q * scale
