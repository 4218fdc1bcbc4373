import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description='Grasp classification from RGB-D, starting from an RGB network')
parser.add_argument('--rgb-epochs', type=int, default=2)
parser.add_argument('--rgbd-epochs', type=int, default=3)
parser.add_argument('--lr', type=float, default=0.02)
parser.add_argument('--batch-size', type=int, default=32)
opt = parser.parse_args()
torch.manual_seed(1)


def scenes(n):
    """Coloured boxes; which of the four is graspable depends on colour and on height."""
    colour = torch.randint(0, 2, (n,))
    height = torch.randint(0, 2, (n,))
    rgb = 0.4 * torch.randn(n, 3, 16, 16)
    depth = 0.4 * torch.randn(n, 1, 16, 16)
    for i in range(n):
        y, x = torch.randint(0, 8, (2,)).tolist()
        rgb[i, 0 if colour[i] else 2, y:y + 7, x:x + 7] += 1.0
        depth[i, 0, y:y + 7, x:x + 7] += 1.0 if height[i] else 0.3
    return rgb, torch.cat([rgb, depth], 1), colour, 2 * height + colour


class BasicBlock(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.down = nn.Conv2d(cin, cout, 1, stride, bias=False) if stride != 1 or cin != cout else nn.Identity()

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.down(x))


class SmallResNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 5, 1, 2)
        self.bn1 = nn.BatchNorm2d(8)
        self.layer1 = BasicBlock(8, 8)
        self.layer2 = BasicBlock(8, 16, 2)
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer2(self.layer1(x))
        return self.fc(x.mean((2, 3)))


def add_depth_channel(net, num_classes):
    """Makes a 4-channel network of a trained 3-channel one."""
    old = net.conv1
    new = nn.Conv2d(4, old.out_channels, old.kernel_size, old.stride, old.padding)
    new.weight.requires_grad_(False)
    new.weight[:, :3] = old.weight.detach()
    new.weight[:, 3:] = old.weight.detach().mean(dim=1, keepdim=True)
    new.bias = old.bias
    net.conv1 = new
    net.fc = nn.Linear(net.fc.in_features, num_classes)
    return net


def run(net, loader, epochs, lr, name):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
    for epoch in range(epochs):
        net.train()
        total, hits, n = 0.0, 0, 0
        for x, y in loader:
            out = net(x)
            loss = F.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
        print('%s epoch %d: loss %.4f acc %.4f' % (name, epoch, total / n, hits / n))


rgb, rgbd, colour, grasp = scenes(256)

net = SmallResNet(num_classes=2)
run(net, DataLoader(TensorDataset(rgb, colour), opt.batch_size, shuffle=True), opt.rgb_epochs, opt.lr, 'rgb')

net = add_depth_channel(net, num_classes=4)
run(net, DataLoader(TensorDataset(rgbd, grasp), opt.batch_size, shuffle=True), opt.rgbd_epochs, opt.lr / 2, 'rgb-d')
print('mean weight of the depth channel: %.5f' % net.conv1.weight[:, 3].mean().item())
