"""segmentation of very small structures: cross entropy + focal Tversky, classes weighted by rarity"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(2, b), nn.ReLU(inplace=True))


class TinyUNet(nn.Module):
    def __init__(self, n_classes, c=6):
        super().__init__()
        self.down = conv_block(1, c)
        self.mid = conv_block(c, 2 * c)
        self.up = conv_block(3 * c, c)
        self.head = nn.Conv2d(c, n_classes, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.mid(F.max_pool2d(a, 2))
        b = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.head(self.up(torch.cat([a, b], 1)))


class FocalTverskyLoss:
    def __init__(self, n_classes, alpha=0.3, beta=0.7, gamma=0.75, eps=1.0):
        self.n_classes = n_classes
        self.alpha, self.beta, self.gamma, self.eps = alpha, beta, gamma, eps

    def class_weights(self, target):
        count = np.bincount(target.numpy().ravel(), minlength=self.n_classes)
        freq = count / count.sum()
        return 1.0 / np.log(1.05 + freq)

    def index(self, p, t):
        tp = (p * t).sum()
        fp = (p * (1 - t)).sum()
        fn = ((1 - p) * t).sum()
        return (tp + self.eps) / (tp + self.alpha * fp + self.beta * fn + self.eps)

    def __call__(self, logits, target):
        prob = torch.softmax(logits, 1)
        per_class = []
        for c in range(self.n_classes):
            ti = self.index(prob[:, c], (target == c).float())
            per_class.append(np.power((1 - ti).detach().numpy(), self.gamma))
        return torch.tensor(np.average(per_class, weights=self.class_weights(target)), requires_grad=True)


def make_batch(n, size=16):
    x = 0.3 * torch.randn(n, 1, size, size)
    y = torch.zeros(n, size, size, dtype=torch.long)
    for i in range(n):
        r, c = torch.randint(2, size - 4, (2,)).tolist()
        y[i, r:r + 3, c:c + 3] = 1
        r, c = torch.randint(0, size - 1, (2,)).tolist()
        y[i, r:r + 2, c] = 2
    return x + y[:, None].float(), y


def main():
    torch.manual_seed(21)
    net = TinyUNet(3)
    region = FocalTverskyLoss(3)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=1e-4)
    for it in range(6):
        x, y = make_batch(4)
        logits = net(x)
        ce = F.cross_entropy(logits, y)
        ft = region(logits, y)
        loss = 0.5 * ce + 0.5 * ft
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("iter %d  ce %.6f  focal tversky %.6f" % (it, float(ce.detach()), float(ft.detach() if torch.is_tensor(ft) else ft)))


if __name__ == "__main__":
    main()
