import argparse
import random

import numpy as np
import torch
from torch import nn
from torch.func import functional_call


class ConvBase(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.c1 = nn.Conv1d(1, hidden, 3, padding=1)
        self.c2 = nn.Conv1d(hidden, hidden, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.c2(torch.relu(self.c1(x)))).mean(-1)


class Learner(nn.Module):
    """features, a projection head for the contrastive warm-up (phase 1, other script) and the classifier"""

    def __init__(self, hidden=8, ways=3):
        super().__init__()
        self.features = ConvBase(hidden)
        self.projection = nn.Sequential(nn.Linear(hidden, 8), nn.ReLU(), nn.Linear(8, 4))
        self.classifier = nn.Linear(hidden, ways)

    def forward(self, x, project=False):
        h = self.features(x)
        return self.projection(h) if project else self.classifier(h)


class MAML:
    def __init__(self, model, lr, first_order=False, allow_unused=False):
        self.module = model
        self.lr, self.first_order, self.allow_unused = lr, first_order, allow_unused

    def parameters(self):
        return self.module.parameters()

    def clone(self):
        return Clone(self, {n: p.clone() for n, p in self.module.named_parameters()})


class Clone:
    def __init__(self, maml, fast):
        self.maml, self.fast = maml, fast

    def __call__(self, x):
        return functional_call(self.maml.module, self.fast, (x,))

    def adapt(self, loss):
        second = not self.maml.first_order
        grads = torch.autograd.grad(loss, list(self.fast.values()), create_graph=second, retain_graph=second,
                                    allow_unused=self.maml.allow_unused)
        self.fast = {n: p if g is None else p - self.maml.lr * g for (n, p), g in zip(self.fast.items(), grads)}


def sample_task(ways, shots, rng):
    freqs, phase = rng.choice(np.arange(1, 9), ways, replace=False), rng.rand() * 6
    t = torch.linspace(0, 3.14, 16)
    x, y = [], []
    for k, f in enumerate(freqs):
        for _ in range(2 * shots):
            x.append(torch.sin(float(f) * t + phase) + 0.1 * torch.from_numpy(rng.randn(16)).float())
            y.append(k)
    return torch.stack(x)[:, None], torch.tensor(y)


def fast_adapt(task, learner, loss, adaptation_steps):
    x, y = task
    support = torch.zeros(len(x), dtype=torch.bool)
    support[::2] = True
    for _ in range(adaptation_steps):
        learner.adapt(loss(learner(x[support]), y[support]))
    pred = learner(x[~support])
    return loss(pred, y[~support]), (pred.argmax(1) == y[~support]).float().mean()


def main(ways=3, shots=3, meta_lr=0.01, fast_lr=0.3, meta_batch_size=4, adaptation_steps=2, num_iterations=5, seed=42):
    random.seed(seed)
    rng = np.random.RandomState(seed)
    torch.manual_seed(seed)
    # allow_unused=True: "One of the differentiated Tensors appears to not have been used in the graph" otherwise
    maml = MAML(Learner(ways=ways), lr=fast_lr, first_order=False, allow_unused=True)
    opt = torch.optim.SGD(maml.parameters(), meta_lr, momentum=0.9)
    loss = nn.CrossEntropyLoss(reduction="mean")
    for iteration in range(num_iterations):
        opt.zero_grad()
        meta_train_error, meta_train_accuracy = 0.0, 0.0
        for _ in range(meta_batch_size):
            learner = maml.clone()
            evaluation_error, evaluation_accuracy = fast_adapt(sample_task(ways, shots, rng), learner, loss, adaptation_steps)
            evaluation_error.backward()
            meta_train_error += evaluation_error.item()
            meta_train_accuracy += evaluation_accuracy.item()
        print("Iteration", iteration)
        print("Meta Train Error %.6f" % (meta_train_error / meta_batch_size))
        print("Meta Train Accuracy %.4f" % (meta_train_accuracy / meta_batch_size))

        # Average the accumulated gradients and optimize
        for p in maml.parameters():
            if p.grad is None:
                break
            p.grad.data.mul_(1.0 / meta_batch_size)
        opt.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-iterations", type=int, default=5)
    parser.add_argument("--first-order", action="store_true", help="(not wired)")
    main(num_iterations=parser.parse_args().num_iterations)
