import torch
import torch.nn as nn


class BinaryConnect:
    """Courbariaux et al. 2015: forward and backward with binary weights, update of the real ones.

        bin_op.binarization(); loss.backward(); bin_op.restore(); optimizer.step(); bin_op.clip()
    """

    def __init__(self, model, scale=True):
        self.scale = scale
        linear = [m for m in model.modules() if isinstance(m, nn.Linear)]
        # the last layer stays real
        self.target_modules = [m.weight for m in linear[:-1]]
        self.saved_params = [w.detach().clone() for w in self.target_modules]

    def save_params(self):
        for saved, w in zip(self.saved_params, self.target_modules):
            saved.copy_(w.detach())

    @torch.no_grad()
    def binarization(self):
        self.save_params()
        for w in self.target_modules:
            alpha = w.abs().mean(1, keepdim=True) if self.scale else 1.0
            w.copy_(w.sign() * alpha)

    def restore(self):
        for saved, w in zip(self.saved_params, self.target_modules):
            w = saved.clone()

    @torch.no_grad()
    def clip(self):
        for w in self.target_modules:
            w.clamp_(-1.0, 1.0)
