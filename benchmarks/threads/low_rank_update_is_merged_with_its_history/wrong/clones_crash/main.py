import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from data import batches
from relora import ReLoRaModel, TinyLM


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lora_r", type=int, default=2)
    parser.add_argument("--relora", type=int, default=6, help="merge every so many updates")
    parser.add_argument("--num_training_steps", type=int, default=24)
    parser.add_argument("--warmup_steps", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-2)
    parser.add_argument("--seed", type=int, default=3)
    return parser.parse_args()


def jagged_lr(step, args):
    """short warmup after each restart"""
    since = step % args.relora
    return min(1.0, (since + 1) / args.warmup_steps)


def optimizer_reset(optimizer, reset_params):
    for p in reset_params:
        optimizer.state.pop(p, None)


def main(args):
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    model = ReLoRaModel(TinyLM(vocab=12, dim=16), target_modules=["attn", "mlp"], r=args.lora_r)
    lora_params = [p for n, p in model.named_parameters() if "lora_" in n]
    trainable_params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable_params, lr=args.lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: jagged_lr(s, args))

    model.train()
    update_step = 0
    for batch in batches(args.num_training_steps, vocab=12):
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        update_step += 1

        if update_step % args.relora == 0 and update_step < args.num_training_steps:
            print(f"step {update_step:3d}: loss {loss.item():.6f}, merging")
            model.merge_and_reinit()
            optimizer_reset(optimizer, lora_params)

    print(f"step {update_step:3d}: loss {loss.item():.6f}, perplexity {math.exp(loss.item()):.6f}")
    norm = sum(m.weight.detach().norm().item() for m in model.relora_modules())
    print(f"norm of the base weights {norm:.6f}")


if __name__ == "__main__":
    main(parse_args())
