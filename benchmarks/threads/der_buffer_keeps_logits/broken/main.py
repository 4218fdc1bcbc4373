"""DER++ on a synthetic class-incremental stream: 3 tasks of 2 classes, one pass each."""
from argparse import Namespace

import torch
import torch.nn.functional as F

from buffer import ReservoirBuffer
from model import backbone

ARGS = Namespace(lr=0.05, alpha=0.3, beta=0.5, minibatch=16, buffer=40, seed=5, tasks=3)


class DerPP:
    NAME = "derpp"

    def __init__(self, net, args):
        self.net = net
        self.args = args
        self.opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.0)
        self.buffer = ReservoirBuffer(args.buffer, args.seed)

    def observe(self, inputs, labels):
        self.opt.zero_grad()
        outputs = self.net(inputs)
        loss = F.cross_entropy(outputs, labels)

        if len(self.buffer) > 0:
            # the old answers to old inputs should still be given
            buf_x, _, buf_logits = self.buffer.get_data(self.args.minibatch)
            loss = loss + self.args.alpha * F.mse_loss(self.net(buf_x), buf_logits)

            buf_x, buf_y, _ = self.buffer.get_data(self.args.minibatch)
            loss = loss + self.args.beta * F.cross_entropy(self.net(buf_x), buf_y)

        loss.backward()
        self.opt.step()
        self.buffer.add_data(inputs, labels, outputs)
        return loss.item()

    @torch.no_grad()
    def accuracy(self, x, y):
        self.net.eval()
        acc = (self.net(x).argmax(1) == y).float().mean().item()
        self.net.train()
        return acc


def make_tasks(n_tasks, per_class=40):
    centers = 1.5 * torch.randn(2 * n_tasks, 10)
    for t in range(n_tasks):
        y = torch.arange(2 * per_class) % 2 + 2 * t
        x = centers[y] + 0.7 * torch.randn(len(y), 10)
        yield x, y


def main():
    torch.manual_seed(ARGS.seed)
    net = backbone(n_classes=2 * ARGS.tasks)
    learner = DerPP(net, ARGS)
    tasks = list(make_tasks(ARGS.tasks))
    for t, (x, y) in enumerate(tasks):
        perm = torch.randperm(len(x))
        losses = []
        for i in range(0, len(x), 10):
            j = perm[i:i + 10]
            losses.append(learner.observe(x[j], y[j]))
        accs = [learner.accuracy(a, b) for a, b in tasks[:t + 1]]
        print("task", t, "loss %.6f" % (sum(losses) / len(losses)), "acc", " ".join("%.4f" % a for a in accs))
    print("weights %.6f" % sum(p.abs().sum().item() for p in net.parameters()))


if __name__ == "__main__":
    main()
