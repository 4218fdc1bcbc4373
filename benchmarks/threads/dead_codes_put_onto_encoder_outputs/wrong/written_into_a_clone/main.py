import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data import Tones
from vqvae import AudioVQVAE


def spectral_loss(x, y):
    window = torch.hann_window(16)
    spec = lambda s: torch.stft(s.squeeze(1), 16, 4, window=window, return_complex=True).abs()
    return F.l1_loss(spec(x), spec(y))


def perplexity(idx, n):
    p = torch.bincount(idx, minlength=n).float()
    p = p / p.sum()
    return torch.exp(-(p * (p + 1e-10).log()).sum()).item()


def main(opt):
    torch.manual_seed(opt.seed)
    loader = DataLoader(Tones(48), batch_size=opt.batch, shuffle=True)
    model = AudioVQVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr, betas=(0.9, 0.99))
    for epoch in range(opt.epochs):
        model.train()
        for x in loader:
            y, vq_loss, idx = model(x)
            recon = F.mse_loss(y, x)
            loss = recon + 0.1 * spectral_loss(y, x) + vq_loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch %d  recon %.5f  vq %.6f  perplexity %.3f  restarts %d" % (
            epoch, recon.item(), vq_loss.item(), perplexity(idx, 16), model.bottleneck.restarted))
    model.eval()
    with torch.no_grad():
        x = Tones(16, seed=1).x.unsqueeze(1)
        y, _, idx = model(x)
        print("test %.5f  perplexity %.3f" % (F.mse_loss(y, x).item(), perplexity(idx, 16)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
