import argparse
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F

p = argparse.ArgumentParser('first-order MAML on Omniglot-like characters')
p.add_argument('--num-ways', type=int, default=4)
p.add_argument('--num-shots', type=int, default=2)
p.add_argument('--num-steps', type=int, default=3)
p.add_argument('--step-size', type=float, default=0.3)
p.add_argument('--batch-size', type=int, default=3)
p.add_argument('--num-batches', type=int, default=6)
p.add_argument('--seed', type=int, default=0)


def conv_block(i, o):
    return nn.Sequential(OrderedDict([
        ('conv', nn.Conv2d(i, o, 3, padding=1)),
        ('norm', nn.GroupNorm(2, o)),
        ('relu', nn.ReLU()),
        ('pool', nn.MaxPool2d(2)),
    ]))


class ConvolutionalNetwork(nn.Module):
    def __init__(self, n_out, hidden=8):
        super().__init__()
        self.features = nn.Sequential(conv_block(1, hidden), conv_block(hidden, hidden))
        self.classifier = nn.Linear(hidden * 4, n_out)

    def forward(self, x, params=None):
        if params is None:
            params = OrderedDict(self.named_parameters())
        for i in range(2):
            k = 'features.%d.' % i
            x = F.conv2d(x, params[k + 'conv.weight'], params[k + 'conv.bias'], padding=1)
            x = F.group_norm(x, 2, params[k + 'norm.weight'], params[k + 'norm.bias'])
            x = F.max_pool2d(F.relu(x), 2)
        return F.linear(x.flatten(1), params['classifier.weight'], params['classifier.bias'])


def gradient_update_parameters(model, loss, params=None, step_size=0.5, first_order=False):
    """One step of gradient descent from `params` (those of the model by default)."""
    if params is None:
        params = OrderedDict(model.named_parameters())
    grads = torch.autograd.grad(loss, list(params.values()), create_graph=not first_order)
    updated = OrderedDict()
    for (name, param), grad in zip(params.items(), grads):
        new = param - step_size * grad
        if first_order:
            pass
        updated[name] = new
    return updated


class Characters:
    """Every class is a random stroke pattern; samples are shifted and noisy."""

    def __init__(self, ways, shots, seed):
        self.ways, self.shots = ways, shots
        self.g = torch.Generator().manual_seed(seed)
        self.patterns = (torch.rand(30, 1, 8, 8, generator=self.g) < 0.3).float()

    def draw(self, classes, n):
        x = self.patterns[classes].repeat_interleave(n, 0)
        sx = int(torch.randint(-1, 2, (1,), generator=self.g))
        x = torch.roll(x, sx, -1) + 0.25 * torch.randn(x.shape, generator=self.g)
        return x, torch.arange(self.ways).repeat_interleave(n)

    def task(self):
        classes = torch.randperm(30, generator=self.g)[:self.ways]
        return self.draw(classes, self.shots), self.draw(classes, 4)


def adapt(model, support, args):
    x, y = support
    params = None
    for _ in range(args.num_steps):
        inner_loss = F.cross_entropy(model(x, params=params), y)
        params = gradient_update_parameters(model, inner_loss, step_size=args.step_size, first_order=True)
    return params


def train(args):
    data = Characters(args.num_ways, args.num_shots, args.seed + 1)
    model = ConvolutionalNetwork(args.num_ways)
    meta_optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for it in range(args.num_batches):
        meta_optimizer.zero_grad()
        outer, correct = 0., 0.
        for _ in range(args.batch_size):
            support, (qx, qy) = data.task()
            params = adapt(model, support, args)
            logits = model(qx, params=params)
            loss = F.cross_entropy(logits, qy) / args.batch_size
            # first order: the gradient at the fast weights is the gradient of the meta weights
            grads = torch.autograd.grad(loss, list(params.values()))
            for w, g in zip(model.parameters(), grads):
                w.grad = g if w.grad is None else w.grad + g
            outer += loss.item()
            correct += (logits.argmax(1) == qy).float().mean().item() / args.batch_size
        meta_optimizer.step()
        print('batch %d  outer loss %.5f  accuracy %.4f' % (it, outer, correct))


if __name__ == '__main__':
    args = p.parse_args()
    torch.manual_seed(args.seed)
    train(args)
