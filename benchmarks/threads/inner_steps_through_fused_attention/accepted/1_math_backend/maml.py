import torch
import torch.nn.functional as F
from torch.func import functional_call


class MAML:
    def __init__(self, model, lr, steps, first_order=False):
        self.model, self.lr, self.steps, self.first_order = model, lr, steps, first_order

    def loss(self, params, x, y):
        return F.mse_loss(functional_call(self.model, params, (x,)), y)

    def adapt(self, x, y):
        params = dict(self.model.named_parameters())
        for _ in range(self.steps):
            loss = self.loss(params, x, y)
            grads = torch.autograd.grad(loss, list(params.values()), create_graph=not self.first_order)
            params = {k: p - self.lr * g for (k, p), g in zip(params.items(), grads)}
        return params
