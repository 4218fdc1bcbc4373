import torch
import torch.nn as nn
import torch.nn.functional as F


class BayarConv2d(nn.Conv2d):
    """Constrained convolution for image forensics: centre -1, the others sum to 1."""

    def __init__(self, n_in, n_out, k=5):
        super().__init__(n_in, n_out, k, padding=k // 2, bias=False)
        self.c = k // 2
        nn.init.uniform_(self.weight, 0.1, 1.0)

    def constrain(self):
        w = self.weight.detach().clone()
        w[:, :, self.c, self.c] = 0.0
        w /= w.sum((2, 3), keepdim=True)
        w[:, :, self.c, self.c] = -1.0
        return w

    def forward(self, x):
        return F.conv2d(x, self.constrain(), padding=self.padding)


class ManipulationNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.noise = BayarConv2d(1, 3)
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.Tanh(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 2))

    def forward(self, x):
        return self.body(self.noise(x))


def batch(n=12):
    y = torch.arange(n) % 2
    x = torch.rand(n, 1, 10, 10)
    blurred = F.avg_pool2d(x, 3, 1, 1)
    return torch.where(y[:, None, None, None] == 1, blurred, x), y


if __name__ == "__main__":
    torch.manual_seed(3)
    net = ManipulationNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.95)
    for it in range(6):
        x, y = batch()
        logits = net(x)
        loss = F.cross_entropy(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        print("%d loss %.6f acc %.4f" % (it, loss.item(), (logits.argmax(1) == y).float().mean().item()))
