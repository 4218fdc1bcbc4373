"""Rajeswaran et al., Meta-Learning with Implicit Gradients.

The meta gradient of one task is (I + H / lam)^-1 g, where H is the Hessian of the
support loss at the adapted weights; the system is solved by conjugate gradients."""
import copy

import torch
import torch.nn.functional as F
from torch.nn.utils import parameters_to_vector

from cg import conjugate_gradient


class ImplicitMAML(object):

    def __init__(self, net, args):
        self.net = net
        self.lam = args.lam
        self.inner_lr = args.inner_lr
        self.inner_steps = args.inner_steps
        self.cg_steps = args.cg_steps

    def adapt(self, task):
        fast = copy.deepcopy(self.net)
        anchor = [p.detach() for p in self.net.parameters()]
        opt = torch.optim.SGD(fast.parameters(), lr=self.inner_lr)
        for _ in range(self.inner_steps):
            loss = F.mse_loss(fast(task.x_spt), task.y_spt)
            prox = sum(((p - a) ** 2).sum() for p, a in zip(fast.parameters(), anchor))
            opt.zero_grad()
            (loss + 0.5 * self.lam * prox).backward()
            opt.step()
        return fast

    def matrix_evaluator(self, fast, task):
        params = list(fast.parameters())
        loss = F.mse_loss(fast(task.x_spt), task.y_spt)
        grads = torch.autograd.grad(loss, params, create_graph=True)
        flat = parameters_to_vector(grads)

        def evaluate(v):
            hvp = torch.autograd.grad(flat.dot(v), params)
            return v + parameters_to_vector(hvp) / self.lam

        return evaluate

    def meta_gradient(self, task):
        fast = self.adapt(task)
        params = list(fast.parameters())
        query_loss = F.mse_loss(fast(task.x_qry), task.y_qry)
        g = parameters_to_vector(torch.autograd.grad(query_loss, params)).detach()
        solution = g
        out, i = [], 0
        for p in params:
            out.append(solution[i:i + p.numel()].view_as(p))
            i += p.numel()
        return out, query_loss.item()
