import argparse
import torch
from torch import nn, optim
from torch.nn import functional as F


class Generator(nn.Module):
    def __init__(self, style_dim=8):
        super().__init__()
        self.style = nn.Sequential(nn.Linear(style_dim, 16), nn.LeakyReLU(0.2), nn.Linear(16, style_dim))
        self.const = nn.Parameter(torch.randn(1, 6))
        self.mod, self.to_rgb = nn.Linear(style_dim, 6), nn.Linear(6, 12)

    def make_noise(self, n):
        return [torch.randn(n, 6), torch.randn(n, 12)]

    def forward(self, latent, noise):
        h = F.leaky_relu(self.const * self.mod(latent) + 0.1 * noise[0], 0.2)
        return torch.tanh(self.to_rgb(h) + 0.1 * noise[1])


def noise_regularize(noises):
    return sum((n * n.roll(1, 1)).mean().pow(2) for n in noises)


def get_lr(t, initial_lr, rampdown=0.25, rampup=0.05):
    lr_ramp = min(1, (1 - t) / rampdown)
    return initial_lr * lr_ramp * min(1, (t + 0.01) / rampup)


def project(g, imgs, args):
    noise_sample = torch.randn(args.n_mean_latent, 8)
    latent_out = g.style(noise_sample)
    latent_mean = latent_out.mean(0)
    latent_std = ((latent_out - latent_mean).pow(2).sum() / args.n_mean_latent) ** 0.5
    noises = g.make_noise(len(imgs))
    for noise in noises:
        noise.requires_grad = True
    latent_in = latent_mean.detach()[None].repeat(len(imgs), 1).requires_grad_()
    optimizer = optim.Adam([latent_in] + noises, lr=args.lr)
    for i in range(args.step):
        t = i / args.step
        optimizer.param_groups[0]["lr"] = get_lr(t, args.lr)
        strength = latent_std.item() * args.noise * max(0, 1 - t / 0.75) ** 2
        latent_n = latent_in + torch.randn_like(latent_in) * strength
        img_gen = g(latent_n, noises)
        mse = F.mse_loss(img_gen, imgs)
        n_loss = noise_regularize(noises)
        loss = mse + args.noise_regularize * n_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for noise in noises:
            noise.data.add_(-noise.mean()).div_(noise.std())
        print("noise regularize: %.6f; mse: %.6f" % (n_loss.item(), mse.item()))
    return latent_in


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Image projector to the generator latent spaces")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--noise", type=float, default=0.05)
    parser.add_argument("--noise_regularize", type=float, default=0.1)
    parser.add_argument("--step", type=int, default=6)
    parser.add_argument("--n_mean_latent", type=int, default=64)
    args = parser.parse_args()
    torch.manual_seed(297)
    g_ema = Generator().eval()
    with torch.no_grad():
        imgs = g_ema(torch.randn(2, 8), g_ema.make_noise(2))
    print("latent %.6f" % project(g_ema, imgs, args).norm().item())
