import random

import torch


class ReservoirBuffer:
    """Reservoir sampling over the stream (Vitter 1985). Besides x, y it keeps the network's answers (dark knowledge)."""

    def __init__(self, size, seed=0):
        self.size = size
        self.seen = 0
        self.data = []
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.data)

    def add_data(self, examples, labels, logits):
        for i in range(examples.shape[0]):
            item = (examples[i], labels[i], logits[i].detach().clone())
            if len(self.data) < self.size:
                self.data.append(item)
            else:
                j = self.rng.randint(0, self.seen)
                if j < self.size:
                    self.data[j] = item
            self.seen += 1

    def get_data(self, n):
        picked = self.rng.sample(self.data, min(n, len(self.data)))
        xs, ys, zs = zip(*picked)
        return torch.stack(xs), torch.stack(ys), torch.stack(zs)
