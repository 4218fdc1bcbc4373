import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import grad

parser = argparse.ArgumentParser()
parser.add_argument('--num_neumann', type=int, default=3)
parser.add_argument('--warmup', type=int, default=1)
parser.add_argument('--rounds', type=int, default=4)
parser.add_argument('--inner_steps', type=int, default=2)
parser.add_argument('--lr', type=float, default=0.1)
parser.add_argument('--hyper_lr', type=float, default=0.05)
parser.add_argument('--seed', type=int, default=5)
args = parser.parse_args()
torch.manual_seed(args.seed)


def gather_flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


def gather_flat_grad(loss_grad):
    return gather_flat(g.contiguous() for g in loss_grad)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 6)
        self.fc2 = nn.Linear(6, 3)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


class Hyper(nn.Module):
    """ One weight decay for every weight, and one weight for every class """

    def __init__(self, n, classes):
        super().__init__()
        self.log_decay = nn.Parameter(torch.full((n,), -4.))
        self.class_weight = nn.Parameter(torch.zeros(classes))

    def decay(self, model):
        w = gather_flat(model.parameters())
        return 0.5 * (self.log_decay.exp() * w ** 2).sum()


def train_loss_func(model, hyper, x, y):
    ce = (F.softplus(hyper.class_weight)[y] * F.cross_entropy(model(x), y, reduction='none')).mean()
    return ce + hyper.decay(model)


def val_loss_func(model, x, y):
    return F.cross_entropy(model(x), y)


def neumann_hyperstep_preconditioner(d_val_d_w, make_d_train_d_w, elementary_lr, num_terms, model):
    """ v * sum_j (I - lr H)^j, Lorraine et al. 2019 """
    preconditioner = d_val_d_w.detach()
    counter = preconditioner
    for i in range(num_terms):
        hessian_term = gather_flat_grad(grad(make_d_train_d_w(), model.parameters(), grad_outputs=counter))
        counter = counter - elementary_lr * hessian_term
        preconditioner = preconditioner + counter
    return elementary_lr * preconditioner


def hyper_step(model, hyper, hyper_optimizer, train, val):
    weights = list(model.parameters())
    d_val_d_w = gather_flat_grad(grad(val_loss_func(model, *val), weights))

    def d_train_d_w():
        train_loss = train_loss_func(model, hyper, *train)
        return gather_flat_grad(grad(train_loss, weights, create_graph=True))

    preconditioned = neumann_hyperstep_preconditioner(d_val_d_w, d_train_d_w, args.lr, args.num_neumann, model)

    indirect = grad(d_train_d_w(), list(hyper.parameters()), grad_outputs=preconditioned)
    for p, g in zip(hyper.parameters(), indirect):
        p.grad = -g
    hyper_optimizer.step()


def main():
    w = torch.randn(5, 3)

    def sample(n):
        x = torch.randn(n, 5)
        return x, (x @ w).argmax(1)

    train, val = sample(20), sample(12)
    model = Net()
    hyper = Hyper(sum(p.numel() for p in model.parameters()), 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    hyper_optimizer = torch.optim.RMSprop(hyper.parameters(), lr=args.hyper_lr)

    for r in range(args.rounds):
        for _ in range(args.inner_steps):
            optimizer.zero_grad()
            loss = train_loss_func(model, hyper, *train)
            loss.backward()
            optimizer.step()
        if r >= args.warmup:
            hyper_step(model, hyper, hyper_optimizer, train, val)
        with torch.no_grad():
            val_loss = val_loss_func(model, *val)
        print('round %d train %.6f val %.6f decay %.6f' % (r, loss.item(), val_loss.item(), hyper.log_decay.mean().item()))


if __name__ == '__main__':
    main()
