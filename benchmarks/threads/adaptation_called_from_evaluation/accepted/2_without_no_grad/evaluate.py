import torch


def evaluate(tented, batches):
    right = seen = 0
    if True:
        for x in batches:
            out = tented(x)
            pred = out.argmax(1)
            right += (pred == (x[:, 0] > 0.5).long()).sum().item()
            seen += len(x)
    return right / seen, tented.last_entropy
