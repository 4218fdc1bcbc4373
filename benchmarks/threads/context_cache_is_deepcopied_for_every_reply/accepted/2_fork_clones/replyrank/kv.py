import torch


class KVCache:
    """Keys and values per layer, [B, H, T, D]; grows with every call of the model."""

    def __init__(self, n_layers):
        self.keys = [None] * n_layers
        self.values = [None] * n_layers

    def __len__(self):
        return 0 if self.keys[0] is None else self.keys[0].size(2)

    def update(self, layer, k, v):
        if self.keys[layer] is not None:
            k = torch.cat([self.keys[layer], k], dim=2)
            v = torch.cat([self.values[layer], v], dim=2)
        self.keys[layer], self.values[layer] = k, v
        return k, v

    def fork(self):
        other = KVCache(len(self.keys))
        other.keys = [k.clone() for k in self.keys]
        other.values = [v.clone() for v in self.values]
        return other
