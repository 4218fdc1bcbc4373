import torch
from torch import nn
import torch.nn.functional as F


class PriorBox(nn.Module):
    """Learned elsewhere; nobody trains it here."""

    def __init__(self, n=6):
        super().__init__()
        self.offset = nn.Parameter(torch.rand(n, 2))
        self.size = nn.Parameter(torch.rand(n, 2) * 0.3)

    def forward(self):
        jitter = 0.01 * torch.randn_like(self.offset)
        return torch.cat([torch.sigmoid(self.offset + jitter), self.size.exp()], 1)


class SSDHead(nn.Module):
    def __init__(self, prior_box, dim=8):
        super().__init__()
        self.__dict__["prior_box"] = prior_box
        self._priors = None
        self.loc = nn.Linear(dim, 6 * 4)
        self.conf = nn.Linear(dim, 6 * 2)

    @property
    def priors(self):
        if self._priors is None:
            self._priors = self.prior_box()
        return self._priors

    def forward(self, feats):
        loc = self.loc(feats).view(-1, 6, 4)
        xy = self.priors[:, :2] + loc[..., :2] * self.priors[:, 2:]
        wh = self.priors[:, 2:] * loc[..., 2:].exp()
        return torch.cat([xy, wh], -1), self.conf(feats).view(-1, 6, 2)


def main():
    torch.manual_seed(524)
    backbone = nn.Sequential(nn.Linear(10, 8), nn.ReLU())
    head = SSDHead(PriorBox())
    optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.05, momentum=0.9)
    for step in range(6):
        images, boxes = torch.randn(12, 10), torch.rand(12, 6, 4)
        labels = (boxes[..., 0] > 0.5).long()
        pred, conf = head(backbone(images))
        loss = F.smooth_l1_loss(pred, boxes) + F.cross_entropy(conf.flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.6f} {head.priors.sum().item():.6f}")


if __name__ == "__main__":
    main()
