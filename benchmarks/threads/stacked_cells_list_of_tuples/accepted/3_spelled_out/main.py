import torch
from torch import nn

from rnnlm import RNNModel
from utils import batchify, get_batch, repackage_hidden

torch.manual_seed(56)
corpus = (torch.arange(200) * 7 % 11 + torch.arange(200) // 50) % 11
train_data, val_data = batchify(corpus[:160], 4), batchify(corpus[160:], 4)
model = RNNModel(11, 10, nlayers=2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
bptt = 6


def evaluate(data):
    hidden, total, count = model.init_hidden(4), 0.0, 0
    with torch.no_grad():
        for i in range(0, len(data) - 1, bptt):
            x, y = get_batch(data, i, bptt)
            out, hidden = model(x, hidden)
            total += criterion(out, y).item()
            hidden = repackage_hidden(hidden)
            count += 1
    return total / count


def train():
    hidden = model.init_hidden(4)
    for i in range(0, len(train_data) - 1, bptt):
        x, y = get_batch(train_data, i, bptt)
        optimizer.zero_grad()
        out, hidden = model(x, hidden)
        loss = criterion(out, y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        hidden = [(h.detach(), c.detach()) for h, c in hidden]
    return loss.item()


print("train %.6f valid %.6f" % (train(), evaluate(val_data)))
