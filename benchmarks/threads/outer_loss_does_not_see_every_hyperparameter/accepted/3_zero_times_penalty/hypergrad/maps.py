import torch


class GradientDescentMap:
    """w -> w - a dL/dw, whose fixed point is the minimiser of the inner loss."""

    def __init__(self, loss, step_size):
        self.loss, self.step_size = loss, step_size

    def __call__(self, params, hparams, only_value=False):
        loss = self.loss(params, hparams)
        grads = torch.autograd.grad(loss, params, create_graph=not only_value)
        return [p - self.step_size * g for p, g in zip(params, grads)]
