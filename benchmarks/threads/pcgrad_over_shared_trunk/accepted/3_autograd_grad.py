import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(2); np.random.seed(2); torch.manual_seed(2)


class PCGrad():
    """gradient surgery around any optimizer"""
    def __init__(self, optimizer):
        self._optim = optimizer

    def zero_grad(self):
        return self._optim.zero_grad(set_to_none=True)

    def step(self):
        return self._optim.step()

    def params(self):
        return [p for group in self._optim.param_groups for p in group['params']]

    def pc_backward(self, objectives):
        '''
        input:
        - objectives: a list of losses of the tasks
        '''
        grads, has_grads = self._pack_grad(objectives)
        merged = self._project_conflicting(grads, has_grads)
        self._set_grad(merged)

    def _project_conflicting(self, grads, has_grads):
        shared = torch.stack(has_grads).prod(0).bool()
        pc_grad = [g.clone() for g in grads]
        for g_i in pc_grad:
            others = list(grads)
            random.shuffle(others)
            for g_j in others:
                g_i_g_j = torch.dot(g_i, g_j)
                if g_i_g_j < 0:
                    g_i -= g_i_g_j * g_j / (g_j.norm() ** 2)
        merged = torch.zeros_like(grads[0])
        merged[shared] = torch.stack([g[shared] for g in pc_grad]).mean(0)
        merged[~shared] = torch.stack([g[~shared] for g in pc_grad]).sum(0)
        return merged

    def _set_grad(self, flat):
        i = 0
        for p in self.params():
            p.grad = flat[i:i + p.numel()].view_as(p).clone()
            i += p.numel()

    def _pack_grad(self, objectives):
        grads, has_grads = [], []
        for obj in objectives:
            found = torch.autograd.grad(obj, self.params(), retain_graph=True, allow_unused=True)
            grads.append(torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for p, g in zip(self.params(), found)]))
            has_grads.append(torch.cat([torch.full_like(p, float(g is not None)).flatten() for p, g in zip(self.params(), found)]))
        self.zero_grad()
        return grads, has_grads


class MultiTaskNet(nn.Module):
    def __init__(self, inp=6, hid=10, classes=3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inp, hid), nn.Tanh(), nn.Linear(hid, hid), nn.ReLU())
        self.seg = nn.Linear(hid, classes)
        self.depth = nn.Linear(hid, 1)
        self.normal = nn.Linear(hid, 3)

    def forward(self, x):
        z = self.trunk(x)
        return {'seg': self.seg(z), 'depth': self.depth(z).squeeze(-1), 'normal': F.normalize(self.normal(z), dim=-1)}


def multi_task_losses(pred, gt):
    return [
        F.cross_entropy(pred['seg'], gt['seg']),
        F.l1_loss(pred['depth'], gt['depth']),
        (1 - (pred['normal'] * gt['normal']).sum(-1)).mean(),
    ]


def fetch(n):
    for _ in range(n):
        x = torch.randn(12, 6)
        yield x, {'seg': x[:, :3].argmax(1), 'depth': x[:, 3].abs(), 'normal': F.normalize(-x[:, 3:], dim=-1)}


net = MultiTaskNet()
optimizer = PCGrad(torch.optim.Adam(net.parameters(), lr=5e-3))
avg_cost = np.zeros(3)
for it, (x, gt) in enumerate(fetch(5)):
    losses = multi_task_losses(net(x), gt)
    optimizer.zero_grad()
    optimizer.pc_backward(losses)
    optimizer.step()
    cost = np.array([l.item() for l in losses])
    avg_cost += cost / 5
    print('iter %d  seg %.6f  depth %.6f  normal %.6f' % (it, cost[0], cost[1], cost[2]))
print('mean', avg_cost.round(5))
