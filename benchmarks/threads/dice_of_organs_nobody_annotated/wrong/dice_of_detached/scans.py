import torch


class PartialScans:
    """Random blobs in place of the real CTs."""

    def __init__(self, organs, missing, size, n):
        self.sources = list(missing)
        self.items = []
        for i in range(n):
            name = self.sources[i % len(self.sources)]
            label = torch.zeros(size, size, dtype=torch.long)
            for c in range(1, len(organs)):
                if organs[c] not in missing[name]:
                    y, x = torch.randint(0, size - 3, (2,)).tolist()
                    label[y:y + 3, x:x + 3] = c
            image = label.float().unsqueeze(0) / len(organs) + 0.2 * torch.randn(1, size, size)
            self.items.append((image, label, name))

    def batches(self, n):
        for i in range(0, len(self.items), n):
            chunk = self.items[i:i + n]
            yield torch.stack([c[0] for c in chunk]), torch.stack([c[1] for c in chunk]), [c[2] for c in chunk]
