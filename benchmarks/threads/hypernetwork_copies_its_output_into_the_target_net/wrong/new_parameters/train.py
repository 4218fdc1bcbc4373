import torch
import torch.nn.functional as F
from hyper import load_weights


def fit(hyper, target, tasks, iters, lr):
    optimizer = torch.optim.Adam(hyper.parameters(), lr=lr)   # only the hypernet is trained
    for it in range(iters):
        optimizer.zero_grad()
        total = 0.
        for _ in range(4):
            cond, x, y = tasks.draw()
            weights = hyper(cond)
            net = load_weights(target, weights)
            pred = net(x)
            loss = F.mse_loss(pred, y) + 1e-4 * sum(w.pow(2).sum() for w in weights.values())
            (loss / 4).backward()
            total += loss.item() / 4
        optimizer.step()
        print('iter %d loss %.6f' % (it, total))


@torch.no_grad()
def evaluate(hyper, target, tasks, n=5):
    errs = []
    for _ in range(n):
        cond, x, y = tasks.draw(32)
        net = load_weights(target, hyper(cond))
        errs.append(F.mse_loss(net(x), y).item())
    return sum(errs) / n
