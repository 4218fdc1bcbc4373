# Learning to reweight examples (Ren et al.), imbalanced binary classification.
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim


hyperparameters = {
    'lr': 0.1,
    'lr_decay': 0.7,
    'momentum': 0.9,
    'virtual_lr': 0.1,
    'batch_size': 20,
    'num_epochs': 3,
    'n_val': 10,
}


class MetaModule(nn.Module):
    """Weights are plain tensors (buffers), so that they can be replaced by results of a virtual step."""

    def params(self):
        for _, p in self.named_params(self):
            yield p

    def named_params(self, module, prefix=''):
        for name, p in getattr(module, 'named_leaves', lambda: [])():
            yield prefix + ('.' if prefix else '') + name, p
        for mname, child in module.named_children():
            yield from self.named_params(child, prefix + ('.' if prefix else '') + mname)

    def set_param(self, name, value):
        module = self
        *path, last = name.split('.')
        for part in path:
            module = getattr(module, part)
        setattr(module, last, value)

    def update_params(self, lr_inner, grads):
        for (name, p), g in zip(list(self.named_params(self)), grads):
            self.set_param(name, p - lr_inner * g)


class MetaLinear(MetaModule):
    def __init__(self, n_in, n_out):
        super().__init__()
        ignore = nn.Linear(n_in, n_out)
        self.register_buffer('weight', ignore.weight.data.clone().requires_grad_())
        self.register_buffer('bias', ignore.bias.data.clone().requires_grad_())

    def named_leaves(self):
        return [('weight', self.weight), ('bias', self.bias)]

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Classifier(MetaModule):
    def __init__(self, n_in=8, width=16):
        super().__init__()
        self.body = nn.Sequential(MetaLinear(n_in, width), nn.Tanh(), MetaLinear(width, width), nn.Tanh())
        self.head = MetaLinear(width, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


def imbalanced(n, ratio, seed):
    g = torch.Generator().manual_seed(seed)
    y = (torch.rand(n, generator=g) < ratio).float()
    x = torch.randn(n, 8, generator=g)
    x[:, :3] += (2 * y[:, None] - 1) * 0.8
    return x, y


def example_weights(net, x, y, x_val, y_val):
    """Weights of the examples of one batch, by one virtual step of the network."""
    net = copy.deepcopy(net)
    cost = F.binary_cross_entropy_with_logits(net(x), y, reduction='none')
    eps = torch.zeros_like(cost, requires_grad=True)
    grads = torch.autograd.grad((cost * eps).sum(), list(net.params()), create_graph=True)
    net.update_params(hyperparameters['virtual_lr'], grads)
    val_loss = F.binary_cross_entropy_with_logits(net(x_val), y_val)
    grad_eps = torch.autograd.grad(val_loss, eps)[0]
    w = torch.clamp(-grad_eps, min=0)
    norm = w.sum()
    return w / norm if norm > 0 else w


def train(net, data, val):
    x_all, y_all = data
    lr = hyperparameters['lr']
    bs = hyperparameters['batch_size']
    for epoch in range(hyperparameters['num_epochs']):
        # warm restart: a new optimizer with a smaller rate
        opt = optim.SGD(net.params(), lr=lr, momentum=hyperparameters['momentum'])
        total = 0.
        for i in range(0, len(y_all), bs):
            x, y = x_all[i:i + bs], y_all[i:i + bs]
            w = example_weights(net, x, y, *val)
            cost = F.binary_cross_entropy_with_logits(net(x), y, reduction='none')
            loss = (cost * w).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        lr *= hyperparameters['lr_decay']
        with torch.no_grad():
            acc = ((net(val[0]) > 0).float() == val[1]).float().mean().item()
        print('epoch %d  weighted loss %.5f  balanced acc %.3f' % (epoch, total, acc))


if __name__ == '__main__':
    torch.manual_seed(33)
    net = Classifier()
    train(net, imbalanced(80, 0.9, 1), imbalanced(hyperparameters['n_val'], 0.5, 2))
