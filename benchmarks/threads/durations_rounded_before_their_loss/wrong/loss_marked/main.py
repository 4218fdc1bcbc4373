"""Stage 2: fit the duration predictor on durations that the attention of the trained TTS model gave (stage 1)."""
import argparse

import torch
from torch import nn

from modules import DurationModel


class DurationLoss(nn.Module):
    """mean squared error in the log domain, padding masked"""

    def forward(self, predicted, target, mask):
        diff = torch.log(predicted.float() + 1) - torch.log(target.float() + 1)
        return (diff.pow(2) * mask).sum() / mask.sum()


def fake_batches(n, vocab, batch, length):
    table = torch.randint(1, 7, (vocab,))
    for _ in range(n):
        ids = torch.randint(1, vocab, (batch, length))
        lens = torch.randint(length // 2, length + 1, (batch,))
        mask = torch.arange(length)[None] < lens[:, None]
        ids = ids * mask
        yield ids, table[ids] * mask, mask


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--vocab", type=int, default=12)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--restore_path", default="", help="checkpoint of stage 1")
    args = parser.parse_args()
    torch.manual_seed(1234)
    model = DurationModel(args.vocab, dims=12)
    for p in model.encoder.parameters():       # belongs to stage 1
        p.requires_grad = False
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=args.lr, betas=(0.9, 0.98))
    criterion = DurationLoss()
    for step, (ids, durations, mask) in enumerate(fake_batches(args.steps, args.vocab, 4, 8)):
        memory, predicted = model(ids, mask)
        loss = criterion(predicted, durations, mask)
        loss.requires_grad_(True)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.predictor.parameters(), 1.0)
        optimizer.step()
        print("step %d duration loss %.6f" % (step, loss.item()))
    with torch.no_grad():
        frames, lens = model.synthesize(ids, mask)
    print("frames %.1f mean %.6f" % (lens.sum().item(), frames.mean().item()))


if __name__ == "__main__":
    main()
