import torch
import torch.nn as nn
import torch.nn.functional as F

NUM_BINS = 8


class CoordinateHead(nn.Module):
    """Object coordinates per pixel, classified into bins for each axis."""

    def __init__(self, n_in=6):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(n_in, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU())
        self.coor = nn.Conv2d(12, 3 * NUM_BINS, 1)

    def forward(self, x):
        n, _, h, w = x.shape
        return self.coor(self.features(x)).view(n, 3, NUM_BINS, h, w)


def bins_to_coordinates(logits):
    """Bin index -> [-1, 1]."""
    index = torch.argmax(logits, dim=2)
    return 2.0 * index.float() / (NUM_BINS - 1.0) - 1.0


def batch(n=4, size=6):
    ramp = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(ramp, ramp, indexing="ij")
    shift = 0.5 * torch.randn(n, 2, 1, 1)
    target = torch.stack([xx + shift[:, 0], yy + shift[:, 1], (xx * yy).expand(n, -1, -1)], 1).clamp(-1, 1)
    image = torch.cat([target + 0.1 * torch.randn_like(target), torch.randn(n, 3, size, size)], 1)
    return image, target


torch.manual_seed(2019)
model = CoordinateHead()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for step in range(6):
    image, target = batch()
    logits = model(image)
    coor = bins_to_coordinates(logits)
    loss = F.cross_entropy(logits.transpose(1, 2), torch.zeros_like(target).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step %d loss %.6f error %.6f" % (step, loss.item(), (bins_to_coordinates(logits) - target).abs().mean().item()))
