import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

""" Class-incremental toy with optimised exemplars ("mnemonics").

phase 0: classes 0..2, phase 1: classes 3..4. After each phase the exemplars of its classes
are adjusted so that a head trained on them for one step does well on the real images.
"""

np.random.seed(0)
torch.manual_seed(0)

IMG = 8
PHASES = [[0, 1, 2], [3, 4]]
PER_CLASS = 4


def make_images(label, n):
    """ uint8 images NHWC, as they come out of a pickle """
    yy, xx = np.mgrid[0:IMG, 0:IMG]
    base = np.sin((label + 1) * xx / 3.0) + np.cos((label + 2) * yy / 4.0)
    imgs = base[None, :, :, None] + 0.5 * np.random.randn(n, IMG, IMG, 1)
    imgs = (imgs - imgs.min()) / (imgs.max() - imgs.min())
    return (255 * imgs).astype(np.uint8)


class TinyNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.fc = nn.Linear(16 * (IMG // 4) ** 2, n_classes)

    def features(self, x):
        return torch.tanh(self.conv2(torch.tanh(self.conv1(x)))).flatten(1)

    def forward(self, x):
        return self.fc(self.features(x))


def to_tensor(imgs):
    return torch.from_numpy(imgs).permute(0, 3, 1, 2).float() / 255.


class Mnemonics:
    def __init__(self, images, labels, lr=2.0, inner_lr=0.5, steps=4):
        raw = torch.from_numpy(images).float().requires_grad_(True)
        self.mnemonics = (raw.permute(0, 3, 1, 2) / 255.).detach().requires_grad_(True)
        self.labels = labels
        self.lr, self.inner_lr, self.steps = lr, inner_lr, steps

    def optimise(self, net, real_x, real_y):
        for _ in range(self.steps):
            feats = net.features(self.mnemonics)
            s_loss = F.cross_entropy(F.linear(feats, net.fc.weight, net.fc.bias), self.labels)
            g_w, g_b = torch.autograd.grad(s_loss, (net.fc.weight, net.fc.bias), create_graph=True)
            fast_w = net.fc.weight - self.inner_lr * g_w
            fast_b = net.fc.bias - self.inner_lr * g_b

            q_loss = F.cross_entropy(F.linear(net.features(real_x), fast_w, fast_b), real_y)
            q_loss.backward()
            with torch.no_grad():
                self.mnemonics -= self.lr * self.mnemonics.grad
                self.mnemonics.clamp_(0., 1.)
            self.mnemonics.grad = None
            net.zero_grad()
        return q_loss.item()


def train_phase(net, optimizer, x, y, epochs=3):
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(16):
            loss = F.cross_entropy(net(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


net = TinyNet(sum(len(p) for p in PHASES))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
memory_x, memory_y = [], []

for phase, classes in enumerate(PHASES):
    images = np.concatenate([make_images(c, 24) for c in classes])
    y = torch.tensor(np.repeat(classes, 24))
    x = to_tensor(images)

    train_x, train_y = torch.cat([x] + memory_x), torch.cat([y] + memory_y)
    final = train_phase(net, optimizer, train_x, train_y)

    # herding replaced by "the first few of each class"
    chosen = np.concatenate([np.arange(PER_CLASS) + 24 * i for i in range(len(classes))])
    mem = Mnemonics(images[chosen], y[torch.from_numpy(chosen)])
    q_loss = mem.optimise(net, x, y)
    memory_x.append(mem.mnemonics.detach())
    memory_y.append(mem.labels)

    moved = (mem.mnemonics.detach() - to_tensor(images[chosen])).abs().mean().item()
    print('phase %d  train loss %.5f  outer loss %.5f  exemplars moved %.6f' % (phase, final, q_loss, moved))

with torch.no_grad():
    mem_x, mem_y = torch.cat(memory_x), torch.cat(memory_y)
    print('loss on the memory %.5f' % F.cross_entropy(net(mem_x), mem_y).item())
