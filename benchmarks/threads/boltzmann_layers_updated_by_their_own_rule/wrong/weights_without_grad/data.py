import torch


def stripes(n, side=4):
    """4 x 4 images of horizontal or vertical stripes, a few pixels flipped."""
    y = torch.arange(n) % 2
    rows = (torch.rand(n, side, 1) < 0.5).float().expand(n, side, side)
    cols = (torch.rand(n, 1, side) < 0.5).float().expand(n, side, side)
    img = torch.where(y.view(-1, 1, 1) == 0, rows, cols)
    flip = torch.rand(n, side, side) < 0.05
    return torch.where(flip, 1 - img, img).reshape(n, -1), y
