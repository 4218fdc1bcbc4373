"""Direct preference optimisation of a toy language model.   usage: python main.py --steps 6"""
import argparse
import logging

import torch

from data import preference_batches
from model import TinyLM
from trainer import DPOTrainer


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--beta", type=float, default=0.5)
    parser.add_argument("--lr", type=float, default=2e-2)
    parser.add_argument("--sft_alpha", type=float, default=0.1, help="weight of the NLL of the chosen answers")
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


if __name__ == "__main__":
    args = parse_args()
    logging.basicConfig(level=logging.INFO, format="[%(name)s] %(message)s")
    torch.manual_seed(args.seed)
    model = TinyLM()
    trainer = DPOTrainer(model, args)
    for step, batch in enumerate(preference_batches(args.steps, args.batch_size)):
        metrics = trainer.train_step(batch)
        print("step", step, " ".join(f"{k} {v:.6f}" for k, v in metrics.items()))
    print("held out", trainer.evaluate(next(preference_batches(1, 32, seed=99))))
