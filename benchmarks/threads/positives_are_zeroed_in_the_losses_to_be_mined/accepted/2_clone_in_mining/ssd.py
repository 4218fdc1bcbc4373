import torch
import torch.nn as nn


def prior_boxes(fmap=6):
    """centre-size priors, three shapes per cell"""
    priors = []
    for i in range(fmap):
        for j in range(fmap):
            cx, cy = (j + 0.5) / fmap, (i + 0.5) / fmap
            for w, h in ((0.25, 0.25), (0.5, 0.25), (0.25, 0.5)):
                priors.append([cx, cy, w, h])
    return torch.tensor(priors)


class SSD(nn.Module):
    def __init__(self, num_classes):
        super(SSD, self).__init__()
        self.num_classes = num_classes
        self.base = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(inplace=True))
        self.loc = nn.Conv2d(24, 3 * 4, 3, padding=1)
        self.conf = nn.Conv2d(24, 3 * num_classes, 3, padding=1)
        self.priors = prior_boxes()

    def forward(self, x):
        x = self.base(x)
        loc = self.loc(x).permute(0, 2, 3, 1).contiguous().view(x.size(0), -1, 4)
        conf = self.conf(x).permute(0, 2, 3, 1).contiguous().view(x.size(0), -1, self.num_classes)
        return loc, conf, self.priors


def build_ssd(num_classes):
    return SSD(num_classes)
