import torch


class SliceLoader:
    """CT-like slices (stand-in). Most of the slices have the organ, few have a lesion."""

    def __init__(self, n_batches, batch_size, seed, size=12):
        g = torch.Generator().manual_seed(seed)
        self.batches = []
        for b in range(n_batches):
            images = 0.15 * torch.randn(batch_size, 1, size, size, generator=g)
            labels = torch.zeros(batch_size, size, size, dtype=torch.long)
            for i in range(batch_size):
                y, x = torch.randint(1, size - 7, (2,), generator=g).tolist()
                labels[i, y:y + 6, x:x + 6] = 1
                if b % 3 == 0 and i == 0:
                    labels[i, y + 2:y + 4, x + 2:x + 5] = 2
            images += labels.unsqueeze(1).float() * 0.5
            self.batches.append((images, labels))

    def __iter__(self):
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)
