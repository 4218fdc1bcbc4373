import argparse
import logging

import torch

from model import TinyLM
from tokens import add_new_tokens

TEXT = "the heart rate was normal and the rate of the pulse was normal <NORM> but the st segment was high <STEMI> and the pulse high <TACHY>"


def build_vocab(text):
    return {w: i for i, w in enumerate(sorted({w for w in text.split() if not w.startswith("<")}))}


def batches(ids, length, size, steps):
    g = torch.Generator().manual_seed(1)
    for _ in range(steps):
        starts = torch.randint(0, len(ids) - length, (size,), generator=g)
        yield torch.stack([ids[s:s + length] for s in starts.tolist()])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--dim", type=int, default=12)
    ap.add_argument("--steps", type=int, default=6)
    ap.add_argument("--lr", type=float, default=0.01)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")

    torch.manual_seed(3407)
    tokenizer = build_vocab(TEXT)
    model = TinyLM(len(tokenizer), args.dim)
    n = add_new_tokens(model, ["<NORM>", "<STEMI>", "<TACHY>"], tokenizer)
    ids = torch.tensor([tokenizer[w] for w in TEXT.split()])

    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=args.lr)
    sched = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, args.steps)
    for step, batch in enumerate(batches(ids, 8, 6, args.steps)):
        loss = model.loss(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sched.step()
        print(f"step {step} loss {loss.item():.6f} new rows {model.lm_head.weight[-n:].norm().item():.6f}")


if __name__ == "__main__":
    main()
