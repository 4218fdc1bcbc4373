"""Weighted belief propagation: learn the weights of a layered LDPC decoder."""
import argparse

import torch
import torch.nn.functional as F

from channel import awgn_llrs, random_codewords
from code_tables import parity_checks
from decoder import LayeredDecoder


def multiloss(outputs, bits):
    """sum over the sweeps, later ones count more"""
    total = 0.0
    for t, llr in enumerate(outputs):
        total = total + (t + 1) / len(outputs) * F.binary_cross_entropy_with_logits(-llr, bits)
    return total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--sweeps", type=int, default=3)
    ap.add_argument("--batches", type=int, default=10)
    ap.add_argument("--batch_size", type=int, default=24)
    ap.add_argument("--snr_db", type=float, default=2.0)
    ap.add_argument("--lr", type=float, default=0.02)
    args = ap.parse_args()
    torch.manual_seed(5)
    H = parity_checks()
    decoder = LayeredDecoder(H, args.sweeps)
    optimizer = torch.optim.Adam(decoder.parameters(), lr=args.lr)
    for b in range(args.batches):
        bits = random_codewords(H, args.batch_size)
        llr = awgn_llrs(bits, args.snr_db)
        outputs = decoder(llr)
        loss = multiloss(outputs, bits)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if b % 3 == 0:
            ber = ((outputs[-1] < 0).float() != bits).float().mean().item()
            print(f"batch {b} loss {loss.item():.6f} ber {ber:.5f} damping {torch.sigmoid(decoder.damping).mean().item():.6f}")


if __name__ == "__main__":
    main()
