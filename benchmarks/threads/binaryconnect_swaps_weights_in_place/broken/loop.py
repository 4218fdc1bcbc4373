import torch
import torch.nn.functional as F


def train_epoch(net, bin_op, optimizer, x, y, batch_size):
    net.train()
    total, n = 0.0, 0
    for xb, yb in zip(x.split(batch_size), y.split(batch_size)):
        optimizer.zero_grad()
        # process the weights including binarization
        bin_op.binarization()
        loss = F.cross_entropy(net(xb), yb)
        loss.backward()
        # restore weights
        bin_op.restore()
        optimizer.step()
        bin_op.clip()
        total, n = total + loss.item(), n + 1
    return total / n


@torch.no_grad()
def evaluate(net, bin_op, x, y):
    net.eval()
    bin_op.binarization()
    logits = net(x)
    bin_op.restore()
    return (logits.argmax(1) == y).float().mean().item(), F.cross_entropy(logits, y).item()
