import torch
from torch import nn


class Renderer(nn.Module):
    """Paints the strokes one after the other: later strokes cover earlier ones."""

    def __init__(self, size, paper=1.0):
        super().__init__()
        self.size, self.paper = size, paper

    def forward(self, strokes):
        canvas = torch.full((3, self.size, self.size), self.paper)
        for i in range(strokes.n):
            (y, x), mask, color = strokes.stroke(i)
            h, w = mask.shape
            below = canvas[:, y:y + h, x:x + w]
            canvas = canvas.clone()
            canvas[:, y:y + h, x:x + w] = below * (1 - mask) + color[:, None, None] * mask
        return canvas
