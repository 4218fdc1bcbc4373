import argparse
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F


class LeNetish(nn.Module):
    """written out so that it can run on given weights"""

    def __init__(self, n_in=10, hidden=12):
        super().__init__()
        self.w1 = nn.Parameter(torch.randn(hidden, n_in) * n_in ** -0.5)
        self.b1 = nn.Parameter(torch.zeros(hidden))
        self.w2 = nn.Parameter(torch.randn(1, hidden) * hidden ** -0.5)
        self.b2 = nn.Parameter(torch.zeros(1))

    def forward(self, x, weights=None):
        w1, b1, w2, b2 = weights if weights is not None else (self.w1, self.b1, self.w2, self.b2)
        return F.linear(F.elu(F.linear(x, w1, b1)), w2, b2).squeeze(1)


def noisy_loader(n, bs, noise, gen):
    while True:
        for i in range(0, n, bs):
            x = torch.randn(bs, 10, generator=gen)
            y = (x[:, 0] - x[:, 1] > 0).float()
            flip = (torch.rand(bs, generator=gen) < noise) & (y == 1)
            yield x, torch.where(flip, torch.zeros_like(y), y)


class Reweighter:
    """Learning to Reweight Examples for Robust Deep Learning (Ren et al. 2018)"""

    def __init__(self, net, opt, lr):
        self.net, self.opt, self.lr = net, opt, lr

    def example_weights(self, x, y, x_val, y_val):
        # 1. one virtual step with the weights eps (all zero)
        eps = torch.zeros(len(x), requires_grad=True)
        cost = F.binary_cross_entropy_with_logits(self.net(x), y, reduction="none")
        meta_train_loss = torch.sum(eps * cost)
        grads = torch.autograd.grad(meta_train_loss, list(self.net.parameters()))
        fast = [p - self.lr * g for p, g in zip(self.net.parameters(), grads)]

        # 2. Compute grads of eps on meta validation data
        meta_val_loss = F.binary_cross_entropy_with_logits(self.net(x_val, fast), y_val)
        eps_grads = torch.autograd.grad(meta_val_loss, eps)[0].detach()

        # 3. Compute weights for current training batch
        w_tilde = torch.clamp(-eps_grads, min=0)
        l1_norm = torch.sum(w_tilde)
        return w_tilde / l1_norm if l1_norm != 0 else w_tilde

    def train_batch(self, x, y, x_val, y_val):
        w = self.example_weights(x, y, x_val, y_val)
        cost = F.binary_cross_entropy_with_logits(self.net(x), y, reduction="none")
        minibatch_loss = torch.sum(w * cost)
        self.opt.zero_grad()
        minibatch_loss.backward()
        self.opt.step()
        return minibatch_loss.item(), w


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=8)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--noise", type=float, default=0.4)
    ap.add_argument("--lr", type=float, default=0.3)
    ap.add_argument("--baseline", action="store_true")
    args = ap.parse_args()
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(7)
    x_val, y_val = next(noisy_loader(10, 10, 0.0, gen))
    net = LeNetish()
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    reweighter = Reweighter(net, opt, args.lr)
    for step, (x, y) in enumerate(itertools.islice(noisy_loader(64, args.batch, args.noise, gen), args.steps)):
        if args.baseline:
            loss = F.binary_cross_entropy_with_logits(net(x), y)
            opt.zero_grad(), loss.backward(), opt.step()
            continue
        loss, w = reweighter.train_batch(x, y, x_val, y_val)
        wrong = (x[:, 0] - x[:, 1] > 0) & (y == 0)
        print("step %d loss %.6f" % (step, loss))
        print("weight on flipped labels %.6f" % w[wrong].sum().item())


if __name__ == "__main__":
    main()
