import torch
import torch.nn.functional as F
from torch.utils.data import Dataset


class TrainDataset(Dataset):
    """smooth random pictures, low resolution by area interpolation"""

    def __init__(self, length, crop_size, upscale_factor, seed=7):
        g = torch.Generator().manual_seed(seed)
        coarse = torch.rand(length, 3, 4, 4, generator=g)
        self.hr = F.interpolate(coarse, size=crop_size, mode='bicubic', align_corners=False).clamp(0, 1)
        self.lr = F.interpolate(self.hr, scale_factor=1 / upscale_factor, mode='area')

    def __getitem__(self, index):
        return self.lr[index], self.hr[index]

    def __len__(self):
        return len(self.hr)
