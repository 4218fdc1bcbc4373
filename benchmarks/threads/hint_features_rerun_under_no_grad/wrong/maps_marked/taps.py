import torch.nn.functional as F


class FeatureTap:
    """keeps what the chosen layers put out in the last forward"""

    def __init__(self, model, layers):
        self.cache = {}
        self.handles = []
        modules = dict(model.named_modules())
        for name in layers:
            self.handles.append(modules[name].register_forward_hook(self._make(name)))

    def _make(self, name):
        def hook(module, inputs, output):
            self.cache[name] = output
        return hook

    def clear(self):
        self.cache.clear()

    def remove(self):
        for h in self.handles:
            h.remove()


def attention_map(feat):
    # Zagoruyko & Komodakis: sum of squares over the channels, normalised
    return F.normalize(feat.pow(2).mean(1).flatten(1), dim=1)
