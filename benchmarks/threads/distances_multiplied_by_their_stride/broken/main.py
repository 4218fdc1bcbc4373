import argparse

import torch

from data import make_batch
from head import AnchorFreeHead, Backbone
from loss import detection_loss


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=3)
    return parser.parse_args()


def main():
    args = parse()
    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    backbone, head = Backbone(), AnchorFreeHead()
    params = list(backbone.parameters()) + list(head.parameters())
    optimizer = torch.optim.SGD(params, lr=args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [12], gamma=0.1)
    for it in range(args.iters):
        images, boxes = make_batch(generator)
        losses = detection_loss(head(backbone(images)), boxes, head.strides)
        optimizer.zero_grad()
        sum(losses.values()).backward()
        torch.nn.utils.clip_grad_norm_(params, 10.0)
        optimizer.step()
        scheduler.step()
        if it % 5 == 0:
            print(it, " ".join(f"{k} {v.item():.5f}" for k, v in losses.items()))


if __name__ == "__main__":
    main()
