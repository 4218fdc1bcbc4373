import torch
import torch.nn.functional as F


class WeightPerturbation:
    """Adversarial weight perturbation: layer-wise step up the robust loss, relative to |w|."""

    def __init__(self, model, gamma):
        self.model = model
        self.gamma = gamma
        self.diff = {}

    def _weights(self):
        return {n: p for n, p in self.model.named_parameters() if p.dim() > 1}

    def perturb(self, x_adv, y):
        weights = self._weights()
        loss = F.cross_entropy(self.model(x_adv), y)
        grads = torch.autograd.grad(loss, list(weights.values()))
        with torch.no_grad():
            for (name, w), g in zip(weights.items(), grads):
                self.diff[name] = self.gamma * w.norm() * g / (g.norm() + 1e-12)
                w.add_(self.diff[name])

    def restore(self):
        with torch.no_grad():
            for name, w in self._weights().items():
                w.sub_(self.diff[name])
        self.diff = {}
