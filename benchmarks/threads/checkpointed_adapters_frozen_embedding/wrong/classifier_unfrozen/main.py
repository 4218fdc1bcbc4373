import argparse

import torch
import torch.nn.functional as F

from modeling import Encoder
from peft_utils import mark_only_adapters_trainable, summary, trainable


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", default=1e-2, type=float)
    p.add_argument("--steps", default=6, type=int)
    p.add_argument("--bs", default=16, type=int)
    p.add_argument("--grad_ckpt", default=True, type=bool)
    p.add_argument("--bf16", action="store_true")
    return p.parse_args([])


def get_batch(bs, vocab=30, length=10):
    ids = torch.randint(0, vocab, (bs, length))
    return ids, (ids < 10).sum(1).clamp(2, 4) - 2


def main():
    args = get_args()
    torch.manual_seed(13)
    model = Encoder()       # "pretrained"
    mark_only_adapters_trainable(model)
    print(summary(model))
    if args.grad_ckpt:
        model.gradient_checkpointing = True
    optimizer = torch.optim.AdamW(trainable(model), lr=args.lr, weight_decay=0.01)
    model.train()
    for step in range(args.steps):
        ids, labels = get_batch(args.bs)
        loss = F.cross_entropy(model(ids), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.5f}")
    model.eval()
    with torch.no_grad():
        ids, labels = get_batch(64)
        print(f"eval {F.cross_entropy(model(ids), labels).item():.5f}")


if __name__ == "__main__":
    main()
