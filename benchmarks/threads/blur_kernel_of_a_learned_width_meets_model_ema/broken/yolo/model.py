from torch import nn

from .layers import BlurPool, ConvBNAct


class TinyDetector(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.backbone = nn.Sequential(
            ConvBNAct(1, width), BlurPool(width), ConvBNAct(width, 2 * width), BlurPool(2 * width),
        )
        self.head = nn.Conv2d(2 * width, 4, 1)

    def blurs(self):
        return [m for m in self.modules() if isinstance(m, BlurPool)]

    def forward(self, x):
        return self.head(self.backbone(x))
