import torch
import torch.nn as nn
import torch.optim as optim


class KFACOptimizer(optim.Optimizer):
    """K-FAC for a stack of nn.Linear.

    acc_stats: set it to True around the backward pass whose output gradients
    are to enter the Fisher factor G.
    """

    def __init__(self, model, lr=0.05, momentum=0.9, stat_decay=0.9, damping=1e-2, TCov=2, TInv=4):
        super().__init__(model.parameters(), dict(lr=lr, momentum=momentum))
        self.stat_decay, self.damping = stat_decay, damping
        self.TCov, self.TInv = TCov, TInv
        self.steps = 0
        self.acc_stats = False
        self.modules = [m for m in model.modules() if isinstance(m, nn.Linear)]
        self.inp, self.gout = {}, {}
        self.A, self.G, self.inv = {}, {}, {}
        for m in self.modules:
            m.register_forward_pre_hook(self._save_input)
            m.register_full_backward_hook(self._save_grad_output)

    def _save_input(self, module, args):
        if torch.is_grad_enabled():
            a = args[0].detach()
            self.inp[module] = torch.cat([a, a.new_ones(a.size(0), 1)], 1)

    def _save_grad_output(self, module, grad_input, grad_output):
        if self.acc_stats:
            g = grad_output[0].detach()
            self.gout[module] = g * g.size(0)

    def _update_factors(self):
        for m in self.modules:
            a, g = self.inp[m], self.gout[m]
            for store, v in ((self.A, a), (self.G, g)):
                cov = v.t() @ v / v.size(0)
                store[m] = cov if m not in store else self.stat_decay * store[m] + (1 - self.stat_decay) * cov

    def _invert(self):
        for m in self.modules:
            eye = [torch.eye(len(f)) * self.damping ** 0.5 for f in (self.A[m], self.G[m])]
            self.inv[m] = (torch.linalg.inv(self.A[m] + eye[0]), torch.linalg.inv(self.G[m] + eye[1]))

    @torch.no_grad()
    def step(self, closure=None):
        group = self.param_groups[0]
        if self.steps % self.TCov == 0:
            self._update_factors()
        if self.steps % self.TInv == 0:
            self._invert()
        for m in self.modules:
            if m.weight.grad is None:
                continue
            grad = torch.cat([m.weight.grad, m.bias.grad[:, None]], 1)
            a_inv, g_inv = self.inv[m]
            nat = g_inv @ grad @ a_inv
            # kl clipping
            nat = nat * min(1.0, (1e-2 / (group['lr'] ** 2 * (nat * grad).sum().abs().item() + 1e-12)) ** 0.5)
            for p, d in ((m.weight, nat[:, :-1]), (m.bias, nat[:, -1])):
                buf = self.state[p].setdefault('momentum_buffer', torch.zeros_like(p))
                buf.mul_(group['momentum']).add_(d)
                p.add_(buf, alpha=-group['lr'])
        self.steps += 1
