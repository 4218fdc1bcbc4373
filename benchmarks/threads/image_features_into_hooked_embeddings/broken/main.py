import argparse

import torch

from vlm.data import mixed_batches
from vlm.modeling import TinyVLM
from vlm.peft import add_lora, trainable


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=6)
    p.add_argument("--lr", type=float, default=2e-2)
    p.add_argument("--rank", type=int, default=2)
    p.add_argument("--gradient_checkpointing", action="store_false")
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(178)
    model = TinyVLM(vocab=20, dim=12, layers=2)
    for p in model.parameters():
        p.requires_grad_(False)
    add_lora(model, args.rank)
    model.projector.requires_grad_(True)
    if args.gradient_checkpointing:
        model.gradient_checkpointing = True
        model.enable_input_require_grads()
    opt = torch.optim.AdamW(trainable(model), lr=args.lr)
    for step, batch in enumerate(mixed_batches(args.steps)):
        loss = model(**batch)
        loss.backward()
        opt.step()
        opt.zero_grad()
        kind = "image" if "pixels" in batch else "text"
        print(f"{step} {kind} {loss.item():.6f} {model.projector.weight.norm().item():.6f}")


if __name__ == "__main__":
    main()
