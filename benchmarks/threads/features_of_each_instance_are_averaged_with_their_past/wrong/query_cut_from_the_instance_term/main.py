import argparse

import torch

from bank import InstanceBank
from data import IndexedViews
from encoder import MomentumPair
from objective import info_nce, instance_loss


def get_parser():
    parser = argparse.ArgumentParser('instance discrimination with a momentum encoder')
    parser.add_argument('--epochs', default=4, type=int)
    parser.add_argument('--batch-size', default=24, type=int)
    parser.add_argument('--dim', default=16, type=int)
    parser.add_argument('--temp', default=0.2, type=float)
    parser.add_argument('--enc-momentum', default=0.95, type=float)
    parser.add_argument('--bank-momentum', default=0.5, type=float)
    parser.add_argument('--lr', default=0.05, type=float)
    return parser


def train(args):
    torch.manual_seed(2)
    views = IndexedViews(n=96, size=20, batch_size=args.batch_size, seed=2)
    model = MomentumPair(20, 32, args.dim, args.enc_momentum)
    bank = InstanceBank(len(views), args.dim, args.bank_momentum)
    optimizer = torch.optim.SGD(model.query.parameters(), lr=args.lr, momentum=0.9)

    for epoch in range(args.epochs):
        meters = [0., 0.]
        for idx, v1, v2 in views:
            q = model.encode_query(v1)
            k = model.encode_key(v2)
            loss_c = info_nce(q, k, args.temp)
            loss_i = instance_loss(q.detach(), bank(), idx, args.temp)
            loss = loss_c + loss_i

            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

            model.momentum_update()
            bank.update(idx, q.detach())
            meters[0] += loss_c.item()
            meters[1] += loss_i.item()
        n = len(views.batches())
        print('Epoch %d: contrast %.6f instance %.6f' % (epoch, meters[0] / n, meters[1] / n))


if __name__ == '__main__':
    train(get_parser().parse_args())
