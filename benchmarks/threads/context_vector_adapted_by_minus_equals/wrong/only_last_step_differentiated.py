"""
Regression experiment using CAVIA: only a small context vector is adapted in the inner loop,
the network is shared over the tasks and learned in the outer loop.
"""
import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn


class CaviaModel(nn.Module):
    """Feed-forward network with context parameters concatenated to the input."""

    def __init__(self, n_in, n_out, num_context_params, n_hidden):
        super().__init__()
        self.num_context_params = num_context_params
        self.fc_layers = nn.ModuleList()
        sizes = [n_in + num_context_params, *n_hidden, n_out]
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.fc_layers.append(nn.Linear(a, b))
        self.context_params = None
        self.reset_context_params()

    def reset_context_params(self):
        self.context_params = torch.zeros(self.num_context_params, requires_grad=True)

    def forward(self, x):
        x = torch.cat((x, self.context_params.expand(x.shape[0], -1)), dim=1)
        for layer in self.fc_layers[:-1]:
            x = torch.tanh(layer(x))
        return self.fc_layers[-1](x)


class SineTasks:
    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def sample_task(self):
        amp = 0.1 + 2 * torch.rand(1, generator=self.gen)
        phase = 3.14 * torch.rand(1, generator=self.gen)
        return lambda x: amp * torch.sin(x - phase)

    def sample_inputs(self, n):
        return torch.rand(n, 1, generator=self.gen) * 6 - 3


class Logger:
    def __init__(self):
        self.train_loss, self.best, self.best_model = [], float("inf"), None

    def log(self, loss, model):
        self.train_loss.append(loss)
        if loss < self.best:
            self.best = loss
            self.best_model = copy.deepcopy(model.state_dict())


def inner_loop(model, x, y, args):
    """adapt the context; returns the loss of every step, for the curves"""
    model.reset_context_params()
    losses = []
    for _ in range(args.num_inner_updates):
        loss = F.mse_loss(model(x), y)
        grad = torch.autograd.grad(loss, model.context_params, create_graph=not args.first_order)[0]
        new = model.context_params - args.lr_inner * grad
        model.context_params = new if len(losses) + 1 == args.num_inner_updates else new.detach().requires_grad_()
        losses.append(loss.item())
    return losses


def run(args):
    torch.manual_seed(args.seed)
    model = CaviaModel(1, 1, args.num_context_params, args.num_hidden_layers)
    meta_optimiser = torch.optim.Adam(model.parameters(), args.lr_meta)
    tasks, logger = SineTasks(args.seed), Logger()
    for i_iter in range(args.n_iter):
        meta_loss = 0.0
        for _ in range(args.tasks_per_metaupdate):
            target = tasks.sample_task()
            x, xq = tasks.sample_inputs(args.k_meta_train), tasks.sample_inputs(args.k_meta_test)
            inner_loop(model, x, target(x), args)
            meta_loss = meta_loss + F.mse_loss(model(xq), target(xq))
        meta_loss = meta_loss / args.tasks_per_metaupdate
        meta_optimiser.zero_grad()
        meta_loss.backward()
        meta_optimiser.step()
        model.reset_context_params()
        logger.log(meta_loss.item(), model)
        print(f"iter {i_iter} meta loss {meta_loss.item():.6f}")
    print(f"best {logger.best:.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Regression experiments")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--n_iter", type=int, default=6, help="number of meta-iterations")
    parser.add_argument("--tasks_per_metaupdate", type=int, default=4)
    parser.add_argument("--k_meta_train", type=int, default=8)
    parser.add_argument("--k_meta_test", type=int, default=8)
    parser.add_argument("--lr_inner", type=float, default=0.5)
    parser.add_argument("--lr_meta", type=float, default=0.01)
    parser.add_argument("--num_inner_updates", type=int, default=2)
    parser.add_argument("--num_context_params", type=int, default=3)
    parser.add_argument("--num_hidden_layers", type=int, nargs="+", default=[12, 12])
    parser.add_argument("--first_order", action="store_true", default=False, help="run first-order version")
    parser.add_argument("--maml", action="store_true", default=False, help="(removed) run MAML")
    run(parser.parse_args())
