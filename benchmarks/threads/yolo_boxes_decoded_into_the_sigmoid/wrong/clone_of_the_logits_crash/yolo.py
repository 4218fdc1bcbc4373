import torch
import torch.nn as nn


def conv(i, o, s):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1), nn.SiLU())


class Detect(nn.Module):
    export = False  # onnx export

    def __init__(self, nc, anchors, stride, ch):
        super().__init__()
        self.nc, self.no = nc, nc + 5
        self.na = len(anchors)
        self.stride = stride
        self.register_buffer("anchor_grid", torch.tensor(anchors).view(1, self.na, 1, 1, 2))
        self.m = nn.Conv2d(ch, self.no * self.na, 1)
        self.grid = torch.zeros(1)

    def forward(self, x):
        x = self.m(x)
        bs, _, ny, nx = x.shape  # x(bs,18,4,4) to x(bs,2,4,4,6)
        x = x.view(bs, self.na, self.no, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
        if self.grid.shape[2:4] != x.shape[2:4]:
            self.grid = self._make_grid(nx, ny)

        y = x.clone().sigmoid()
        y[..., 0:2] = (y[..., 0:2] * 2. - 0.5 + self.grid) * self.stride  # xy
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.anchor_grid  # wh
        return y.view(bs, -1, self.no), x

    @staticmethod
    def _make_grid(nx=20, ny=20):
        yv, xv = torch.meshgrid([torch.arange(ny), torch.arange(nx)], indexing="ij")
        return torch.stack((xv, yv), 2).view((1, 1, ny, nx, 2)).float()


class TinyYolo(nn.Module):
    def __init__(self, anchors, stride, nc, width):
        super().__init__()
        self.backbone = nn.Sequential(conv(1, width, 2), conv(width, 2 * width, 2), conv(2 * width, 2 * width, 2))
        self.detect = Detect(nc, anchors, stride, 2 * width)

    def forward(self, x):
        return self.detect(self.backbone(x))
