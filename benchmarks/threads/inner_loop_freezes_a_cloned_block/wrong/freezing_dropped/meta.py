import torch
from torch.func import functional_call


class Learner:
    """A differentiable copy of a module: its weights are results, not leaves."""

    def __init__(self, module, lr, first_order=False):
        self.module = module
        self.lr = lr
        self.first_order = first_order
        self.weights = {name: p.clone() for name, p in module.named_parameters()}

    def __call__(self, x):
        return functional_call(self.module, self.weights, (x,))

    def block_parameters(self, prefix):
        return [w for name, w in self.weights.items() if name.startswith(prefix + ".")]

    def adapt(self, loss):
        names = [n for n, w in self.weights.items() if w.requires_grad]
        grads = torch.autograd.grad(loss, [self.weights[n] for n in names], create_graph=not self.first_order)
        for name, g in zip(names, grads):
            self.weights[name] = self.weights[name] - self.lr * g


class MAML:
    def __init__(self, module, lr):
        self.module = module
        self.lr = lr

    def clone(self):
        return Learner(self.module, self.lr)
