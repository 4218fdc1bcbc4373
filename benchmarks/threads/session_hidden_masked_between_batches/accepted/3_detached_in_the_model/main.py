import argparse
import numpy as np
import torch

from dataset import SessionDataLoader, make_sessions
from model import GRU4REC
from loss import LossFunction

parser = argparse.ArgumentParser()
parser.add_argument('--hidden_size', default=16, type=int)
parser.add_argument('--batch_size', default=4, type=int)
parser.add_argument('--n_epochs', default=1, type=int)
parser.add_argument('--lr', default=0.05, type=float)
parser.add_argument('--loss_type', default='TOP1', type=str)
parser.add_argument('--seed', default=22, type=int)
args = parser.parse_args()

np.random.seed(args.seed)
torch.manual_seed(args.seed)


class Trainer(object):
    def __init__(self, model, loader, optim, loss_func):
        self.model, self.loader, self.optim, self.loss_func = model, loader, optim, loss_func

    def train_epoch(self, epoch):
        self.model.train()
        losses = []
        hidden = self.model.init_hidden(self.loader.batch_size)
        for ii, (input, target, mask) in enumerate(self.loader):
            self.optim.zero_grad()
            hidden = self.model.reset_hidden(hidden, mask)
            logit, hidden = self.model(input, hidden)
            # output sampling: the other targets of the batch are negatives
            loss = self.loss_func(logit[:, target])
            losses.append(loss.item())
            loss.backward()
            self.optim.step()
        return losses


model = GRU4REC(30, args.hidden_size)
loader = SessionDataLoader(make_sessions(9, 30), args.batch_size)
optim = torch.optim.Adagrad(model.parameters(), lr=args.lr)
trainer = Trainer(model, loader, optim, LossFunction(args.loss_type))
for epoch in range(args.n_epochs):
    for l in trainer.train_epoch(epoch):
        print('%.6f' % l)
