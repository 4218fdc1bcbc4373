import torch


def toy_photos(n_views, size):
    ramp = torch.linspace(0, 1, size)
    base = torch.stack([ramp.expand(size, size), ramp.expand(size, size).t(), torch.full((size, size), 0.4)], -1)
    return torch.stack([(base * (0.7 + 0.1 * i)).clamp(0, 1) for i in range(n_views)])


class PhotoRays:
    """All pixels of all photos as one long list of rays, from which batches are drawn."""

    def __init__(self, photos, cameras):
        self.cameras = cameras
        self.rgb = photos.reshape(-1, 3)
        # 预先算好所有光线, 训练时只需要取下标
        self.origins, self.dirs = cameras.rays()

    def __len__(self):
        return self.rgb.shape[0]

    def sample(self, n):
        idx = torch.randint(len(self), (n,))
        origins, _ = self.cameras.rays()
        return origins[idx], self.dirs[idx].detach(), self.rgb[idx]
