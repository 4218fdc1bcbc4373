import torch
import torch.nn.functional as F

from ewc import EWC
from net import MLP


def make_task(k, n=64):
    g = torch.Generator().manual_seed(100 + k)
    x = torch.randn(n, 6, generator=g)
    w = torch.randn(6, 3, generator=g)
    return x, (x @ w).argmax(1)


def train_task(net, opt, ewc, x, y, lamda, steps=6):
    for _ in range(steps):
        opt.zero_grad()
        ce_loss = F.cross_entropy(net(x), y)
        ewc_loss = ewc.penalty(net)
        (ce_loss + lamda * ewc_loss).backward()
        opt.step()
    return float(ce_loss), float(ewc_loss)


def accuracy(net, x, y):
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


if __name__ == '__main__':
    torch.manual_seed(7)
    net, ewc = MLP(6, 16, 3), EWC()
    opt = torch.optim.SGD(net.parameters(), lr=0.15, momentum=0.8)
    tasks = [make_task(k) for k in range(3)]
    for k, (x, y) in enumerate(tasks):
        ce, reg = train_task(net, opt, ewc, x, y, lamda=40.)
        ewc.consolidate(net, x[:16], y[:16])
        print(f'task {k}  ce {ce:.5f}  ewc {reg:.6f}  acc', ' '.join(f'{accuracy(net, *t):.3f}' for t in tasks[:k + 1]))
