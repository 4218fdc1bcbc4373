import torch
from torch import nn


def conv(i, o, act=True):
    layers = [nn.Conv2d(i, o, 3, padding=1)]
    if act:
        layers += [nn.InstanceNorm2d(o, affine=True), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers)


class ADN(nn.Module):
    """Content encoder, artifact encoder, and two decoders (with and without artifact)."""

    def __init__(self, w):
        super().__init__()
        self.enc_content = nn.Sequential(conv(1, w), conv(w, w))
        self.enc_artifact = nn.Sequential(conv(1, w), conv(w, w))
        self.dec_clean = nn.Sequential(conv(w, w), conv(w, 1, act=False))
        self.dec_dirty = nn.Sequential(conv(2 * w, w), conv(w, 1, act=False))

    def forward(self, low, high):
        c_l, a_l, c_h = self.enc_content(low), self.enc_artifact(low), self.enc_content(high)
        return {
            "lh": self.dec_clean(c_l),                         # restored
            "ll": self.dec_dirty(torch.cat([c_l, a_l], 1)),    # reconstructed
            "hh": self.dec_clean(c_h),
            "hl": self.dec_dirty(torch.cat([c_h, a_l], 1)),    # artifact transferred
        }


class PatchCritic(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, w, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(w, 1, 3, 1, 1))

    def forward(self, x):
        return self.net(x)
