import torch
from torch import nn
from splatting import splat


class Interpolator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.flow = nn.Sequential(nn.Linear(2 * width, 32), nn.Tanh(), nn.Linear(32, width))
        self.polish = nn.Conv1d(1, 1, 3, padding=1)

    def forward(self, first, last, times):
        """the frames at `times`, and the flow from the first to the last frame"""
        flow = 4 * self.flow(torch.cat([first, last], 1))
        frames = []
        for t in times:
            # linear motion: the part of the way that is done at t
            flow = flow * t
            flow_t = flow
            warped = splat(first, flow_t)
            frames.append(warped + 0.1 * self.polish(warped.unsqueeze(1)).squeeze(1))
        return frames, flow
