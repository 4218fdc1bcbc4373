import argparse
import torch

from inverted import InvertedForecaster
from maml import MAML
from tasks import waves


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--meta_steps", type=int, default=7)
    ap.add_argument("--tasks", type=int, default=3)
    ap.add_argument("--inner_lr", type=float, default=0.2)
    ap.add_argument("--inner_steps", type=int, default=2)
    args = ap.parse_args()
    torch.manual_seed(10)
    model = InvertedForecaster(lookback=8, horizon=2)
    maml = MAML(model, args.inner_lr, args.inner_steps)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(args.meta_steps):
        meta_loss = 0.0
        for _ in range(args.tasks):
            (xs, ys), (xq, yq) = waves()
            fast = maml.adapt(xs, ys)
            meta_loss = meta_loss + maml.loss(fast, xq, yq) / args.tasks
        opt.zero_grad()
        meta_loss.backward()
        opt.step()
        print(f"meta step {step} query loss {meta_loss.item():.6f}")


if __name__ == "__main__":
    main()
