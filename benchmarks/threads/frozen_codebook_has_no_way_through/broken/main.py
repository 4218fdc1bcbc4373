"""
Adapt a small neural speech codec to a new microphone.

  stage 1: train encoder / codebook / decoder on close-talk frames
  stage 2: the recordings of the new device are dull and noisy. Decoder and codebook stay as they are
           (the recogniser behind us was trained on exactly these tokens), only the encoder learns to
           map the device's frames to the tokens of the clean ones.
"""
import argparse
import os
import tempfile

import torch
import torch.nn.functional as F

from codec import Codec, frames_of, through_device


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--codes", type=int, default=24)
    p.add_argument("--dim", type=int, default=6)
    p.add_argument("--frame", type=int, default=32)
    p.add_argument("--beta", type=float, default=0.25)
    p.add_argument("--epochs", type=int, default=16)
    p.add_argument("--adapt-epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=48)
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args()


def batches(n, size):
    order = torch.randperm(n)
    for i in range(0, n - size + 1, size):
        yield order[i:i + size]


def pretrain(model, clean, args):
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    model.train()
    for epoch in range(args.epochs):
        total, n = 0.0, 0
        for idx in batches(len(clean), args.batch):
            x = clean[idx]
            rec, commit, _ = model(x)
            loss = F.mse_loss(rec, x) + args.beta * commit
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total, n = total + loss.item(), n + 1
        print(f"pretrain {epoch}  loss {total / n:.6f}")


@torch.no_grad()
def report(model, noisy, clean, tokens):
    was = model.training
    model.eval()
    rec, _, idx = model(noisy)
    agree = (idx == tokens).float().mean().item()
    model.train(was)
    return F.mse_loss(rec, clean).item(), agree


def adapt(model, noisy, clean, args):
    for p in model.decoder.parameters():
        p.requires_grad = False
    model.eval()
    with torch.no_grad():
        tokens = model.tokens(clean)
    model.encoder.train()

    opt = torch.optim.Adam(model.encoder.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.8)
    for epoch in range(args.adapt_epochs):
        total, n = 0.0, 0
        for idx in batches(len(noisy), args.batch):
            rec, _, _ = model(noisy[idx])
            loss = F.mse_loss(rec, clean[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, n = total + loss.item(), n + 1
        sched.step()
        model.eval()
        mse, agree = report(model, noisy, clean, tokens)
        model.encoder.train()
        print(f"adapt {epoch}  loss {total / n:.6f}  mse {mse:.6f}  same tokens {agree:.4f}")


def main():
    args = parse()
    torch.manual_seed(args.seed)
    clean = frames_of(384, args.frame, seed=args.seed)
    noisy = through_device(clean, seed=args.seed + 1)

    model = Codec(args.frame, args.dim, args.codes)
    pretrain(model, clean, args)
    print(f"codebook norm {model.quantizer.codebook.norm().item():.6f}")
    adapt(model, noisy, clean, args)
    print(f"codebook norm {model.quantizer.codebook.norm().item():.6f}")
    with tempfile.TemporaryDirectory() as folder:
        torch.save(model.state_dict(), os.path.join(folder, "codec_device2.pt"))


if __name__ == "__main__":
    main()
