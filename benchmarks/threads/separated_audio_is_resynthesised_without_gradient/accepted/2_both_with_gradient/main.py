import argparse

import torch

from umx.data import mixtures
from umx.losses import MultiResolutionSTFTLoss
from umx.model import Separator
from umx.transforms import SlicedAnalysis, SlicedSynthesis


def train_epoch(model, encoder, decoder, criterion, optimizer, batches):
    model.train()
    total = n = 0
    for mix, target in batches:
        optimizer.zero_grad()
        X = encoder(mix)
        Y_hat = model(X)
        y_hat = decoder(Y_hat, mix.shape[-1])
        loss = criterion(y_hat, target)
        loss.backward()
        optimizer.step()
        total, n = total + loss.item(), n + 1
    return total / n


@torch.no_grad()
def sdr(model, encoder, decoder, batches):
    model.eval()
    out = []
    for mix, target in batches:
        est = decoder(model(encoder(mix)), mix.shape[-1])
        out.append(10 * torch.log10(target.pow(2).sum(-1) / (target - est).pow(2).sum(-1)))
    return torch.cat(out).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--slice", type=int, default=64)
    ap.add_argument("--seed", type=int, default=4)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    encoder, decoder = SlicedAnalysis(args.slice), SlicedSynthesis(args.slice)
    model = Separator(args.slice // 2 + 1)
    criterion = MultiResolutionSTFTLoss(sizes=(32, 64, 128))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = train_epoch(model, encoder, decoder, criterion, optimizer, mixtures(12, 4))
        print(f"epoch {epoch} loss {loss:.5f} sdr {sdr(model, encoder, decoder, mixtures(4, 4, seed=50)):.4f}")


if __name__ == "__main__":
    main()
