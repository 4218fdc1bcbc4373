"""Fine-tunes a small pretrained denoiser on a differentiable reward (whole sampling chain in the graph)."""
import argparse

import torch

from ddim import Schedule, sample
from nets import Denoiser, Reward, pretrain


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=6)
    p.add_argument("--chain", type=int, default=5, help="denoising steps per sample")
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--anchor", type=float, default=0.1, help="weight of the distance to the pretrained weights")
    return p.parse_args()


def main():
    args = parse()
    torch.manual_seed(0)
    schedule = Schedule(50)
    net = Denoiser()
    print("pretraining loss %.6f" % pretrain(net, schedule, steps=20))
    start = [w.detach().clone() for w in net.parameters()]

    reward = Reward().requires_grad_(False)
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=0.0)
    for i in range(args.rounds):
        x0 = sample(net, schedule, n=24, n_steps=args.chain)
        r = reward(x0)
        drift = sum((w - s).pow(2).sum() for w, s in zip(net.parameters(), start))
        loss = -r.mean() + args.anchor * drift
        opt.zero_grad()
        loss.backward()
        gn = torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        print("round %d  reward %.6f  drift %.6f  |g| %.6f" % (i, r.mean().item(), drift.item(), gn.item()))

    with torch.no_grad():
        x0 = sample(net, schedule, n=64, n_steps=10)
    print("final reward %.6f" % reward(x0).mean().item())


if __name__ == "__main__":
    main()
