import torch


class VOCToy(object):
    """grey pictures with one bright rectangle; its label follows its shape"""

    def __init__(self, n):
        g = torch.Generator().manual_seed(3)
        self.items = []
        for _ in range(n):
            img = 0.1 * torch.randn(1, 24, 24, generator=g)
            label = int(torch.randint(3, (1,), generator=g))
            w, h = [(6, 6), (12, 6), (6, 12)][label]
            x = int(torch.randint(24 - w + 1, (1,), generator=g))
            y = int(torch.randint(24 - h + 1, (1,), generator=g))
            img[:, y:y + h, x:x + w] += 1.0
            box = torch.tensor([x, y, x + w, y + h, 0.0]) / 24.0
            box[4] = label
            self.items.append((img, box.unsqueeze(0)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def detection_collate(batch):
    return torch.stack([b[0] for b in batch]), [b[1] for b in batch]
