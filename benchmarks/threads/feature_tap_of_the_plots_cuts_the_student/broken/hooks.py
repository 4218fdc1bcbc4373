"""forward hooks, first written for the t-SNE plots of plot_features.py"""


class FeatureTap:
    def __init__(self, model, layers):
        self.features = {}
        self.handles = []
        modules = dict(model.named_modules())
        for name in layers:
            self.handles.append(modules[name].register_forward_hook(self._make(name)))

    def _make(self, name):
        def hook(module, inputs, output):
            # do not keep the graph of every batch alive
            self.features[name] = output.detach().float()
        return hook

    def as_matrix(self, name):
        return self.features[name].flatten(1).cpu().numpy()

    def remove(self):
        for h in self.handles:
            h.remove()
        self.handles = []
