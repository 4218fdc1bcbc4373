import argparse

import torch
import torch.nn.functional as F
from torch import nn

from control import ReferenceAttentionControl
from data import batches, people
from unet import TinyUNet


class Animator(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.reference_unet = TinyUNet(dim, depth)
        self.denoising_unet = TinyUNet(dim, depth)
        self.pose_guider = nn.Linear(dim, dim)
        self.writer = ReferenceAttentionControl(self.reference_unet, "write")
        self.reader = ReferenceAttentionControl(self.denoising_unet, "read")

    def forward(self, noisy, t, reference, pose):
        self.reference_unet(reference, torch.zeros_like(t))
        self.reader.update(self.writer)
        return self.denoising_unet(noisy, t, self.pose_guider(pose))


def add_noise(x, noise, t):
    a = torch.cos(t * 1.5)[:, None, None]
    return a * x + (1 - a ** 2).sqrt() * noise


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--gradient-accumulation-steps", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    identities = people(6, tokens=5, dim=12, gen=gen)
    net = Animator(dim=12, depth=2)
    optimizer = torch.optim.AdamW(net.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        running, updates = 0.0, 0
        optimizer.zero_grad()
        for step, batch in enumerate(batches(identities, 8, args.batch_size, gen)):
            noise = torch.randn(batch.frame.shape, generator=gen)
            t = torch.rand(len(noise), generator=gen)
            prediction = net(add_noise(batch.frame, noise, t), t, batch.reference, batch.pose)
            loss = F.mse_loss(prediction, noise) / args.gradient_accumulation_steps
            loss.backward()
            running += loss.item()

            if (step + 1) % args.gradient_accumulation_steps == 0:
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
                net.reader.clear()
                net.writer.clear()
                updates += 1
        print(f"epoch {epoch} updates {updates} loss {running / updates:.5f}")


if __name__ == "__main__":
    main()
