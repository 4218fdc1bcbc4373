import argparse
import torch
from torch.utils.data import DataLoader, Dataset

from diffusion import Diffusion
from networks import Denoiser
from schedule import Schedule


class Blobs(Dataset):
    """四个簇, 附带两个连续属性 (半径, 角度)"""

    def __init__(self, n, n_classes, x_dim):
        self.y = torch.arange(n) % n_classes
        centres = 2 * torch.randn(n_classes, x_dim)
        self.attr = torch.rand(n, 2)
        self.x = centres[self.y] * (0.5 + self.attr[:, :1]) + 0.1 * torch.randn(n, x_dim)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i], self.attr[i]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--timesteps", type=int, default=12)
    ap.add_argument("--x_dim", type=int, default=6)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()
    torch.manual_seed(20)

    data = Blobs(96, 4, args.x_dim)
    loader = DataLoader(data, batch_size=24, shuffle=True)
    net = Denoiser(args.x_dim, 4)
    diffusion = Diffusion(net, Schedule(args.timesteps))
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        mean = 0.0
        for x, y, attr in loader:
            loss = diffusion.loss(x, y, attr)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            mean += loss.item() / len(loader)
        print(f"epoch {epoch} loss {mean:.5f}")

    y = torch.arange(8) % 4
    x = diffusion.sample(y, torch.full((8, 2), 0.5), args.x_dim)
    print(f"samples: mean {x.mean().item():.5f} std {x.std().item():.5f}  |null| {net.null_context.norm().item():.5f}")


if __name__ == "__main__":
    main()
