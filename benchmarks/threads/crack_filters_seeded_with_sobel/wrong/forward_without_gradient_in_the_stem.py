# coding: utf-8
# 路面裂缝检测：第一层卷积用 Sobel / Laplace 算子初始化，之后跟着网络一起训练
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2023)


def get_kernels():
    """三个经典的边缘算子"""
    sobel_x = torch.tensor([[-1., 0., 1.], [-2., 0., 2.], [-1., 0., 1.]])
    sobel_y = sobel_x.t()
    laplace = torch.tensor([[0., 1., 0.], [1., -4., 1.], [0., 1., 0.]])
    return [sobel_x / 4, sobel_y / 4, laplace / 4]


class ConvBNReLU(nn.Module):
    def __init__(self, cin, cout, k=3):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, k, padding=k // 2, bias=False)
        self.bn = nn.BatchNorm2d(cout)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class CrackNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.body = nn.Sequential(ConvBNReLU(width, 12), ConvBNReLU(12, 12))
        self.head = nn.Conv2d(12, 1, 1)
        self.init_stem()

    def init_stem(self):
        # 前三个通道放算子，其余通道保持随机
        with torch.no_grad():
            for i, k in enumerate(get_kernels()):
                self.stem.weight[i, 0] = k
        nn.init.zeros_(self.stem.bias)

    def forward(self, x):
        return self.head(self.body(F.relu(self.stem(x).detach())))


def make_road(n=24, size=16):
    """假数据：灰色路面 + 一条随机的裂缝"""
    g = torch.Generator().manual_seed(9)
    img = 0.6 + 0.1 * torch.randn(n, 1, size, size, generator=g)
    mask = torch.zeros(n, 1, size, size)
    for i in range(n):
        col = int(torch.randint(3, size - 3, (1,), generator=g))
        for row in range(size):
            col = min(max(col + int(torch.randint(-1, 2, (1,), generator=g)), 0), size - 1)
            mask[i, 0, row, col] = 1.0
    return img - 0.35 * mask, mask


class DiceBCE(nn.Module):
    def __init__(self, pos_weight=5.0):
        super().__init__()
        self.bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(pos_weight))

    def forward(self, logit, target):
        p = torch.sigmoid(logit)
        inter = (p * target).sum((1, 2, 3))
        dice = 1 - (2 * inter + 1) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + 1)
        return self.bce(logit, target) + dice.mean()


def evaluate(net, img, mask):
    net.eval()
    with torch.no_grad():
        pred = (net(img) > 0).float()
        inter = (pred * mask).sum()
        union = ((pred + mask) > 0).float().sum()
    net.train()
    return (inter / union).item()


def main():
    img, mask = make_road()
    train_x, train_y, test_x, test_y = img[:16], mask[:16], img[16:], mask[16:]

    net = CrackNet()
    # 第一层学习率小一点，别把算子一下子冲掉
    optimizer = torch.optim.SGD([
        {'params': net.stem.parameters(), 'lr': 0.01},
        {'params': list(net.body.parameters()) + list(net.head.parameters())},
    ], lr=0.05, momentum=0.9)
    criterion = DiceBCE()

    for epoch in range(4):
        total = 0.
        for i in range(0, len(train_x), 8):
            x, y = train_x[i:i + 8], train_y[i:i + 8]
            loss = criterion(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print('第%d轮 loss=%.5f' % (epoch, total / 2))

    print('测试 IoU: %.4f' % evaluate(net, test_x, test_y))
    drift = sum((net.stem.weight[i, 0] - k).abs().sum().item() for i, k in enumerate(get_kernels()))
    print('算子变化量: %.5f' % drift)


if __name__ == '__main__':
    main()
