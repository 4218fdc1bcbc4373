from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch.func import functional_call


class MetaSGD(object):
    """MAML with a learned step size for every single weight (Li et al. 2017)"""

    def __init__(self, net, args):
        self.net = net
        self.inner_steps = args.inner_steps
        self.alpha = OrderedDict(
            (name, torch.full_like(p, args.inner_lr, requires_grad=True)) for name, p in net.named_parameters()
        )
        self.meta_opt = torch.optim.Adam([
            {"params": list(net.parameters()), "lr": args.meta_lr},
            {"params": list(self.alpha.values()), "lr": args.alpha_lr},
        ])

    def adapt(self, x, y, first_order=False):
        fast = OrderedDict(self.net.named_parameters())
        for _ in range(self.inner_steps):
            loss = F.mse_loss(functional_call(self.net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=not first_order)
            fast = OrderedDict((n, w - self.alpha[n] * g) for (n, w), g in zip(fast.items(), grads))
        return fast

    def meta_step(self, tasks):
        total = 0.0
        self.meta_opt.zero_grad()
        for (xs, ys), (xq, yq) in tasks:
            fast = self.adapt(xs, ys)
            loss = F.mse_loss(functional_call(self.net, fast, (xq,)), yq) / len(tasks)
            loss.backward()
            total += loss.item()
        self.meta_opt.step()
        return total

    def evaluate(self, task):
        (xs, ys), (xq, yq) = task
        fast = self.adapt(xs, ys, first_order=True)
        with torch.no_grad():
            return F.mse_loss(functional_call(self.net, fast, (xq,)), yq).item()

    def alpha_stats(self):
        a = torch.cat([v.detach().flatten() for v in self.alpha.values()])
        return a.mean().item(), a.min().item(), a.max().item()
