import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    """classifier with a reconstruction branch on the same trunk"""

    def __init__(self, d, c, h=16):
        super().__init__()
        self.trunk = nn.Linear(d, h)
        self.cls = nn.Linear(h, c)
        self.rec = nn.Linear(h, d)

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return self.cls(h), self.rec(h)


class Trainer:
    def __init__(self, net, callbacks, lr):
        self.net, self.callbacks = net, callbacks
        self.opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.8)
        self.state = {'ece': 0.0}

    def batch(self, x, y):
        state = self.state
        logits, rec = self.net(x)
        state.update(x=x, y=y, logits=logits, rec=rec)
        self.callbacks.on_forward(state)
        # over-confident batches get more smoothing
        smoothing = min(0.5, state['ece'])
        loss = F.cross_entropy(state['logits'], state['y'], label_smoothing=smoothing)
        loss = loss + 0.3 * F.mse_loss(state['rec'], state['x'])
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        state['loss'] = loss.item()
        self.callbacks.on_batch_end(state)

    def epoch(self, xy, batch):
        for x, y in zip(xy[0].split(batch), xy[1].split(batch)):
            self.batch(x, y)
