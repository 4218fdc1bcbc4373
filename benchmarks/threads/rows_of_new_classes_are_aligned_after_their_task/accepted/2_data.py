import argparse
import copy
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

# Class-incremental learning with a small rehearsal memory.
# After every task the rows of the new classes are rescaled ("weight aligning"),
# so that on average they are as long as the rows of the old ones.


class Stream:
    """3 tasks x 3 classes; every class is a Gaussian on its own direction."""

    def __init__(self, n_tasks, per_task, dim, n_train, n_test):
        self.per_task = per_task
        means = F.normalize(torch.randn(n_tasks * per_task, dim), dim=1) * 3.5
        self.train, self.test = [], []
        for t in range(n_tasks):
            classes = range(t * per_task, (t + 1) * per_task)
            self.train.append(self.sample(means, classes, n_train))
            self.test.append(self.sample(means, classes, n_test))

    @staticmethod
    def sample(means, classes, n):
        x = torch.cat([means[c] + torch.randn(n, means.shape[1]) for c in classes])
        y = torch.cat([torch.full((n,), c) for c in classes])
        return x, y


class Memory:
    def __init__(self, per_class):
        self.per_class, self.x, self.y = per_class, [], []

    def store(self, x, y):
        for c in y.unique():
            keep = (y == c).nonzero().flatten()[: self.per_class]
            self.x.append(x[keep])
            self.y.append(y[keep])

    def mix(self, x, y):
        if not self.x:
            return x, y
        return torch.cat([x] + self.x), torch.cat([y] + self.y)


class IncrementalNet(nn.Module):
    def __init__(self, dim, n_classes, width=32):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(dim, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.fc = nn.Linear(width, n_classes, bias=False)
        self.seen = 0

    def forward(self, x):
        return self.fc(self.backbone(x))[:, : self.seen]

    def weight_align(self, n_new):
        old = slice(0, self.seen - n_new)
        new = slice(self.seen - n_new, self.seen)
        norms = self.fc.weight.norm(dim=1)
        gamma = norms[old].mean() / norms[new].mean()
        self.fc.weight.data[new] *= gamma.detach()
        return gamma.item()


class Learner:
    def __init__(self, args):
        self.args = args
        self.net = IncrementalNet(args.dim, args.tasks * args.per_task)
        self.memory = Memory(args.memory)
        self.teacher = None
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=args.lr, momentum=0.9, weight_decay=2e-4)

    def loss(self, x, y, n_new):
        logits = self.net(x)
        loss = F.cross_entropy(logits, y)
        if self.teacher is not None:
            with torch.no_grad():
                soft = F.softmax(self.teacher(x) / 2, dim=1)
            n_old = self.net.seen - n_new
            kd = F.kl_div(F.log_softmax(logits[:, :n_old] / 2, dim=1), soft, reduction="batchmean")
            lam = n_old / self.net.seen
            loss = (1 - lam) * loss + lam * 4 * kd
        return loss

    def learn_task(self, t, x, y):
        n_new = self.args.per_task
        self.net.seen += n_new
        xs, ys = self.memory.mix(x, y)
        for epoch in range(self.args.epochs):
            order = torch.randperm(len(xs))
            total = 0.0
            for idx in order.split(self.args.batch):
                loss = self.loss(xs[idx], ys[idx], n_new)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(idx)
            if epoch % 2 == 0:
                print(f"  task {t} epoch {epoch} loss {total / len(xs):.6f}")
        if t > 0:
            print(f"  gamma {self.net.weight_align(n_new):.6f}")
        self.memory.store(x, y)
        self.teacher = copy.deepcopy(self.net).eval()
        for p in self.teacher.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def accuracy(self, tests):
        return [(self.net(x).argmax(1) == y).float().mean().item() for x, y in tests]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tasks", type=int, default=3)
    ap.add_argument("--per-task", type=int, default=3)
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=7)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--memory", type=int, default=12)
    ap.add_argument("--lr", type=float, default=0.04)
    ap.add_argument("--seed", type=int, default=8)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    stream = Stream(args.tasks, args.per_task, args.dim, n_train=40, n_test=30)
    learner = Learner(args)
    with tempfile.TemporaryDirectory() as tmp:
        for t, (x, y) in enumerate(stream.train):
            learner.learn_task(t, x, y)
            acc = learner.accuracy(stream.test[: t + 1])
            print(f"after task {t}: " + " ".join(f"{a:.4f}" for a in acc) + f"  mean {sum(acc) / len(acc):.4f}")
            torch.save(learner.net.state_dict(), os.path.join(tmp, f"task{t}.pt"))
    norms = learner.net.fc.weight.detach().norm(dim=1)
    print("row norms " + " ".join(f"{v:.4f}" for v in norms.tolist()))


if __name__ == "__main__":
    main()
