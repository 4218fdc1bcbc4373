# semi-supervised keyword spotting, small labelled set + big unlabelled set
# the front end (gaussian band filters) is trained together with the classifier
import math
from itertools import cycle

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
SR, LENGTH, BANDS, CLASSES = 800, 160, 8, 4


class BandFilters(nn.Module):
    """Learnable filterbank: centre and width of each band are parameters."""

    def __init__(self, bands=BANDS, size=31):
        super().__init__()
        self.centre = nn.Parameter(torch.linspace(0.05, 0.9, bands) * math.pi)
        self.width = nn.Parameter(torch.full((bands,), 6.0))
        self.register_buffer("t", torch.arange(size).float() - size // 2)

    def forward(self, wave):
        env = torch.exp(-0.5 * (self.t / self.width[:, None]) ** 2)
        kernel = env * torch.cos(self.centre[:, None] * self.t)
        kernel = kernel / kernel.norm(dim=1, keepdim=True)
        y = F.conv1d(wave[:, None], kernel[:, None], padding=15)
        return torch.log1p(F.avg_pool1d(y.pow(2), 16))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(BANDS * 10, 32), nn.ReLU(), nn.Linear(32, CLASSES))

    def forward(self, feats):
        return self.net(feats)


def make_waves(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, CLASSES, (n,), generator=g)
    f = 40.0 + 70.0 * y.float() + 12 * torch.randn(n, generator=g)
    t = torch.arange(LENGTH) / SR
    x = torch.sin(2 * math.pi * f[:, None] * t) + 0.4 * torch.randn(n, LENGTH, generator=g)
    return x, y


front = BandFilters()
clf = Classifier()
opt = torch.optim.Adam(list(front.parameters()) + list(clf.parameters()), lr=4e-3)

labelled = DataLoader(TensorDataset(*make_waves(32, 1)), batch_size=16, shuffle=False)
unlabelled = DataLoader(TensorDataset(make_waves(192, 2)[0]), batch_size=16, shuffle=False)


def with_features(batch):
    wave, target = batch
    return front(wave), target


# the labelled set is much smaller, so go round and round in it
labelled_stream = cycle(map(with_features, labelled))

for epoch in range(3):
    total = sup = 0.0
    for (u,) in unlabelled:
        feats, target = next(labelled_stream)
        loss_sup = F.cross_entropy(clf(feats.detach()), target)

        weak = clf(front(u)).detach().softmax(-1)
        strong = clf(front(u * (0.5 + (u[:, :1].abs() % 1))))
        loss_cons = F.mse_loss(strong.softmax(-1), weak)

        loss = loss_sup + 0.5 * loss_cons
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        sup += loss_sup.item()
    print("epoch %d  loss %.5f  supervised %.5f" % (epoch, total / len(unlabelled), sup / len(unlabelled)))
