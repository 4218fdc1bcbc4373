# 关键点检测注意力
import torch
from torch import nn

torch.manual_seed(9)

class USAM(nn.Module):
    def __init__(self, polish=True):
        super(USAM, self).__init__()
        self.polish = polish
        self.gx = nn.Conv2d(3, 1, 3, padding=1, bias=False)
        self.gy = nn.Conv2d(3, 1, 3, padding=1, bias=False)
        self.conv = nn.Conv2d(3, 5, 3, padding=1)

    def forward(self, x):
        Ix, Iy = self.gx(x), self.gy(x)
        # 响应值归一化到 (0, 1)
        att = torch.sigmoid(Ix * Iy - 0.1 * (Ix + Iy).pow(2))

        # 去除边缘
        if self.polish:
            mask = torch.zeros_like(att)
            mask[:, :, 1:-1, 1:-1] = 1
            att = att * mask

        return self.conv(x) * att + self.conv(x)

net = nn.Sequential(USAM(), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(5, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9); ce = nn.CrossEntropyLoss()
for i in range(5):
    img = torch.randn(8, 3, 6, 6); lab = (img[:, 0, 2:4, 2:4].mean((1, 2)) > 0).long()
    loss = ce(net(img), lab)
    opt.zero_grad(); loss.backward(); opt.step()
print('损失: %.6f' % loss.item(), '%.6f' % net[0].gx.weight.norm().item())
