import math

import torch

from trainer import Trainer


def sine_batch(batch_size, seq_len):
    phase = torch.rand(batch_size, 1) * 2 * math.pi
    freq = 1 + 2 * torch.rand(batch_size, 1)
    t = torch.linspace(0, 1, seq_len)
    return 0.8 * torch.sin(2 * math.pi * freq * t + phase)


def main():
    torch.manual_seed(7)
    trainer = Trainer(seq_len=10)
    for step in range(8):
        loss_d, loss_g = trainer.train_step(sine_batch(12, 10))
        print(f"step {step}  D {loss_d:.5f}  G {loss_g:.5f}")


if __name__ == "__main__":
    main()
