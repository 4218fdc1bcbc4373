import argparse

import torch

from detector.criterion import SetCriterion
from detector.engine import evaluate, train_one_epoch
from detector.model import TinyDETR


def get_args_parser():
    parser = argparse.ArgumentParser('Set a tiny detector', add_help=False)
    parser.add_argument('--lr', default=1e-2, type=float)
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('--queries', default=4, type=int)
    parser.add_argument('--bbox_loss_coef', default=5, type=float)
    parser.add_argument('--size_loss_coef', default=2, type=float)
    return parser


def make_loader(batches, args):
    data = []
    for _ in range(batches):
        feats = torch.randn(3, 5, 8)
        labels = torch.randint(0, 3, (3, args.queries))
        boxes = torch.rand(3, args.queries, 4)
        data.append((feats, {'labels': labels, 'boxes': boxes}))
    return data


def main(args):
    torch.manual_seed(42)
    model = TinyDETR(num_classes=3, num_queries=args.queries)
    weight_dict = {'loss_ce': 1, 'loss_bbox': args.bbox_loss_coef, 'loss_size': args.size_loss_coef}
    criterion = SetCriterion(weight_dict)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    train, val = make_loader(3, args), make_loader(1, args)
    for epoch in range(args.epochs):
        train_one_epoch(model, criterion, train, optimizer, epoch)
        evaluate(model, criterion, val)


if __name__ == '__main__':
    main(get_args_parser().parse_args())
