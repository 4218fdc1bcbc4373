import torch
import torch.nn.functional as F


class LinfPGD:
    def __init__(self, eps, alpha, steps):
        self.eps, self.alpha, self.steps = eps, alpha, steps

    def __call__(self, model, x, y):
        x_adv = (x + torch.empty_like(x).uniform_(-self.eps, self.eps)).clamp(0, 1)
        for _ in range(self.steps):
            x_adv.requires_grad_(True)
            loss = F.cross_entropy(model(x_adv), y)
            grad, = torch.autograd.grad(loss, x_adv)
            x_adv = x_adv.detach() + self.alpha * grad.sign()
            x_adv = torch.min(torch.max(x_adv, x - self.eps), x + self.eps).clamp(0, 1)
        return x_adv.detach()
