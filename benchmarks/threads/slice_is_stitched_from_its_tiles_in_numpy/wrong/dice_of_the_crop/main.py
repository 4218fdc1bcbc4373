import argparse
import tempfile

import torch

from nodseg.phantoms import PhantomSet
from nodseg.tilenet import TileNet
from nodseg.trainer import SegTrainer


def get_args():
    p = argparse.ArgumentParser(description="nodule segmentation, tile network")
    p.add_argument("--size", type=int, default=32)
    p.add_argument("--tile", type=int, default=16)
    p.add_argument("--stride", type=int, default=8)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--lr", type=float, default=3e-2)
    p.add_argument("--dice-weight", type=float, default=2.0)
    p.add_argument("--pos-weight", type=float, default=3.0)
    return p.parse_args()


if __name__ == "__main__":
    args = get_args()
    torch.manual_seed(66)
    trainer = SegTrainer(TileNet(), PhantomSet(24, args.size, 1), PhantomSet(12, args.size, 2), args)
    with tempfile.TemporaryDirectory() as out_dir:
        trainer.run(out_dir)
    print(f"best {trainer.best:.5f}")
