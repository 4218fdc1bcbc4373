import torch
import torch.nn.functional as F


class LandmarkClips:
    """Edge maps of a mouth that opens, and frames that belong to them."""

    def __init__(self, opt):
        self.opt = opt
        self.g = torch.Generator().manual_seed(opt.seed)

    def __iter__(self):
        n, s = self.opt.batch_size, self.opt.size
        grid = torch.linspace(-1, 1, s)
        for _ in range(self.opt.batches):
            opening = torch.rand(n, 1, 1, generator=self.g) * 0.6 + 0.1
            y, x = grid[None, :, None], grid[None, None, :]
            edge = torch.exp(-((x ** 2 / 0.5 + y ** 2 / opening) - 1).pow(2) * 8)
            frame = torch.tanh(torch.stack([edge, 1 - edge, 0.5 * edge], 1) * 2 - 1)
            frame = frame + 0.05 * torch.randn(n, 3, s, s, generator=self.g)
            yield {"feature_map": F.pad(edge[:, None], (0, 0, 0, 0)), "image": frame}
