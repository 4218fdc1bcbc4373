"""MAML on sinusoids with torch.func.functional_call; the inner step sizes are learned too (Meta-SGD like, one per layer)."""
import argparse
import math
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call


class SineTask:
    def __init__(self, gen):
        self.amp = 0.5 + 2.0 * torch.rand(1, generator=gen)
        self.phase = math.pi * torch.rand(1, generator=gen)
        self.gen = gen

    def sample(self, k):
        x = 10 * torch.rand(k, 1, generator=self.gen) - 5
        return x, self.amp * torch.sin(x + self.phase)


class Regressor(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.layers = nn.Sequential(OrderedDict([
            ("fc1", nn.Linear(1, hidden)), ("act1", nn.Tanh()),
            ("fc2", nn.Linear(hidden, hidden)), ("act2", nn.Tanh()),
            ("out", nn.Linear(hidden, 1)),
        ]))

    def forward(self, x):
        return self.layers(x)


class MetaLearner(nn.Module):
    def __init__(self, net, inner_lr, inner_steps):
        super().__init__()
        self.net = net
        self.inner_steps = inner_steps
        self.log_lr = nn.ParameterDict({
            name.replace(".", "_"): nn.Parameter(torch.tensor(math.log(inner_lr)))
            for name, _ in net.named_parameters()
        })

    def initial(self):
        """The weights that adaptation starts from."""
        return OrderedDict(self.net.state_dict(keep_vars=True))

    def adapt(self, x, y):
        fast = self.initial()
        for _ in range(self.inner_steps):
            loss = F.mse_loss(functional_call(self.net, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = OrderedDict(
                (name, w - self.log_lr[name.replace(".", "_")].exp() * g)
                for (name, w), g in zip(fast.items(), grads)
            )
        return fast

    def query_loss(self, task, k):
        fast = self.adapt(*task.sample(k))
        x, y = task.sample(2 * k)
        return F.mse_loss(functional_call(self.net, fast, (x,)), y)


def evaluate(meta, seed, n=5, k=10):
    gen = torch.Generator().manual_seed(seed)
    losses = []
    for _ in range(n):
        task = SineTask(gen)
        losses.append(meta.query_loss(task, k).detach())
    return torch.stack(losses).mean().item()


def main(args):
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed + 1)
    meta = MetaLearner(Regressor(), args.inner_lr, args.inner_steps)
    opt = torch.optim.Adam(meta.parameters(), lr=args.meta_lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.iterations)

    for it in range(args.iterations):
        opt.zero_grad()
        batch = [meta.query_loss(SineTask(gen), args.k) for _ in range(args.tasks)]
        loss = torch.stack(batch).mean()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(meta.parameters(), 10.0)
        opt.step()
        sched.step()
        if it % 3 == 0:
            print("iter {:3d}  query loss {:.6f}  meta-grad {:.5f}".format(it, loss.item(), norm.item()))

    print("test loss after adaptation: {:.6f}".format(evaluate(meta, 99)))
    print("first inner lr: {:.6f}".format(meta.log_lr["layers_fc1_weight"].exp().item()))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=10)
    ap.add_argument("--tasks", type=int, default=3)
    ap.add_argument("--k", type=int, default=8)
    ap.add_argument("--inner-lr", type=float, default=0.03)
    ap.add_argument("--inner-steps", type=int, default=2)
    ap.add_argument("--meta-lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=0)
    main(ap.parse_args())
