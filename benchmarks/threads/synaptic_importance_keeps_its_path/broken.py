"""Synaptic Intelligence (Zenke et al. 2017) on a stream of small regression tasks.

The learner walks through the tasks, every parameter keeps the share that it had in lowering the loss
(small omega), and at the end of a task this becomes its importance (big Omega).
"""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--tasks", type=int, default=3)
parser.add_argument("--iters", type=int, default=6)
parser.add_argument("--lr", type=float, default=0.02)
parser.add_argument("--si-c", type=float, default=0.8, dest="si_c")
parser.add_argument("--epsilon", type=float, default=0.1)
parser.add_argument("--visdom", action="store_true")  # not on the cluster
args = parser.parse_args()


class Classifier(nn.Module):
    def __init__(self, n_in=4, hidden=8):
        super().__init__()
        self.fc1 = nn.Linear(n_in, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


class ContinualLearner:
    def __init__(self, model, si_c, epsilon):
        self.model, self.si_c, self.epsilon = model, si_c, epsilon
        self.W, self.p_old, self.omega, self.p_prev_task = {}, {}, {}, {}

    def named(self):
        return [(n.replace(".", "__"), p) for n, p in self.model.named_parameters() if p.requires_grad]

    def register_starting_param_values(self):
        for n, p in self.named():
            self.W[n] = torch.zeros_like(p)
            self.p_old[n] = p.clone()

    def update_importance_estimates(self):
        """after each optimizer step: running path integral"""
        for n, p in self.named():
            if p.grad is not None:
                self.W[n] = self.W[n] - p.grad * (p - self.p_old[n])
            self.p_old[n] = p.clone()

    def update_omega(self):
        """after each task"""
        for n, p in self.named():
            p_current = p.clone()
            start = self.p_prev_task.get(n, self.init_values[n])
            omega_add = self.W[n].clamp(min=0) / ((p_current - start) ** 2 + self.epsilon)
            self.omega[n] = self.omega[n] + omega_add if n in self.omega else omega_add
            self.p_prev_task[n] = p_current

    def surrogate_loss(self):
        if not self.omega:
            return torch.tensor(0.0)
        return sum((self.omega[n] * (p - self.p_prev_task[n]) ** 2).sum() for n, p in self.named())

    def start(self):
        self.init_values = {n: p.detach().clone() for n, p in self.named()}


def make_task(seed, n=12):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(4, 1, generator=g)
    x = torch.randn(args.iters, n, 4, generator=g)
    return x, torch.sin(x @ w)


def main():
    torch.manual_seed(2017)
    model = Classifier()
    learner = ContinualLearner(model, args.si_c, args.epsilon)
    learner.start()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, betas=(0.9, 0.999))
    for task in range(args.tasks):
        xs, ys = make_task(100 + task)
        learner.register_starting_param_values()
        for x, y in zip(xs, ys):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            surrogate = learner.surrogate_loss()
            total = loss + learner.si_c * surrogate
            total.backward()
            optimizer.step()
            learner.update_importance_estimates()
            print(f"task {task} loss {loss.item():.6f} surrogate {float(surrogate):.8f}")
        learner.update_omega()
    print("Omega", " ".join(f"{learner.omega[n].sum().item():.6f}" for n, _ in learner.named()))


if __name__ == "__main__":
    main()
