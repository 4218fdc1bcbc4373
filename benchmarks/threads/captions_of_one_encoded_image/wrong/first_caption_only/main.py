import argparse

import torch

from captioner import data, models
from captioner.engine import Engine

if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--epochs', type=int, default=2)
    ap.add_argument('--lr', type=float, default=8e-3)
    ap.add_argument('--captions-per-image', type=int, default=3, dest='cpi')
    args = ap.parse_args()
    torch.manual_seed(12)
    images, captions = data.toy(n_images=4, cpi=args.cpi)
    encoder, decoder = models.Encoder(10, 16), models.Decoder(vocab=9, dim=16)
    engine = Engine(encoder, decoder, lr=args.lr, total_steps=args.epochs * len(images) * args.cpi)
    for epoch in range(args.epochs):
        loss = engine.train_epoch(images, captions)
        print(f'epoch {epoch}: loss {loss:.5f} lr {engine.sched.get_last_lr()[0]:.6f} steps {engine.global_step}')
