import torch


class CorrectedScenes:
    """Scenes as sets of patch features, a label, and the user's mask of concepts that must not be the reason."""

    n_feat = 10
    n_concepts = 6

    def __init__(self, n, n_patches=9):
        g = torch.Generator().manual_seed(17)
        self.patches = torch.randn(n, n_patches, self.n_feat, generator=g)
        self.labels = torch.randint(0, 3, (n,), generator=g)
        self.patches[:, 0, :3] += torch.nn.functional.one_hot(self.labels, 3) * 2.0
        self.forbidden = (torch.rand(n, 1, self.n_concepts, generator=g) < 0.35).float()

    def __len__(self):
        return len(self.labels)

    def batches(self, size):
        for i in range(0, len(self), size):
            s = slice(i, i + size)
            yield self.patches[s], self.labels[s], self.forbidden[s]
