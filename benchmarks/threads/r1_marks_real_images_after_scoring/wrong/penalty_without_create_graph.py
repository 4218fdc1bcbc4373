import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


def requires_grad(model, flag=True):
    for p in model.parameters():
        p.requires_grad = flag


class Generator(nn.Module):
    def __init__(self, z_dim, style_dim, size):
        super().__init__()
        self.size = size
        self.style = nn.Sequential(nn.Linear(z_dim, style_dim), nn.LeakyReLU(0.2), nn.Linear(style_dim, style_dim))
        self.const = nn.Parameter(torch.randn(1, 8, size // 2, size // 2))
        self.mod = nn.Linear(style_dim, 8)
        self.conv = nn.Conv2d(8, 8, 3, padding=1)
        self.to_img = nn.Conv2d(8, 1, 1)

    def forward(self, z):
        s = self.mod(self.style(z))[:, :, None, None]
        x = F.interpolate(self.const * (1 + s), scale_factor=2)
        return torch.tanh(self.to_img(F.leaky_relu(self.conv(x), 0.2)))


class Discriminator(nn.Module):
    def __init__(self, size, ch=8):
        super().__init__()
        self.conv1 = nn.Conv2d(1, ch, 3, 2, 1)
        self.conv2 = nn.Conv2d(ch, ch, 3, padding=1)
        self.linear = nn.Sequential(nn.Linear(ch * (size // 2) ** 2, 16), nn.Softplus(), nn.Linear(16, 1))

    def forward(self, x):
        x = F.softplus(self.conv1(x))
        x = F.softplus(self.conv2(x))
        return self.linear(x.flatten(1))


def d_logistic_loss(real_pred, fake_pred):
    return F.softplus(-real_pred).mean() + F.softplus(fake_pred).mean()


def g_nonsaturating_loss(fake_pred):
    return F.softplus(-fake_pred).mean()


def d_r1_loss(real_pred, real_img):
    grad_real, = torch.autograd.grad(outputs=real_pred.sum(), inputs=real_img, retain_graph=True)
    return grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()


def sample_data(args):
    """horizontal / vertical bars"""
    while True:
        img = -torch.ones(args.batch, 1, args.size, args.size)
        for k in range(args.batch):
            i = random.randrange(args.size)
            if random.random() < 0.5:
                img[k, 0, i] = 1
            else:
                img[k, 0, :, i] = 1
        yield img + 0.05 * torch.randn_like(img)


def train(args):
    generator, discriminator = Generator(args.z_dim, 16, args.size), Discriminator(args.size)
    # lazy regularisation: scale the learning rate of D as in the paper
    ratio = args.d_reg_every / (args.d_reg_every + 1)
    g_optim = torch.optim.Adam(generator.parameters(), lr=args.lr, betas=(0.0, 0.99))
    d_optim = torch.optim.Adam(discriminator.parameters(), lr=args.lr * ratio, betas=(0.0, 0.99 ** ratio))
    loader = sample_data(args)
    r1 = 0.0
    for i in range(args.iter):
        real_img = next(loader)
        real_img.requires_grad = i % args.d_reg_every == 0
        requires_grad(generator, False)
        requires_grad(discriminator, True)
        fake_img = generator(torch.randn(args.batch, args.z_dim))
        fake_pred = discriminator(fake_img)
        real_pred = discriminator(real_img)
        d_loss = d_logistic_loss(real_pred, fake_pred)
        if i % args.d_reg_every == 0:
            r1_loss = d_r1_loss(real_pred, real_img)
            d_loss = d_loss + args.r1 / 2 * r1_loss * args.d_reg_every
            r1 = r1_loss.item()
        d_optim.zero_grad()
        d_loss.backward()
        d_optim.step()

        requires_grad(generator, True)
        requires_grad(discriminator, False)
        g_loss = g_nonsaturating_loss(discriminator(generator(torch.randn(args.batch, args.z_dim))))
        g_optim.zero_grad()
        g_loss.backward()
        g_optim.step()
        if i % args.log_every == 0:
            print(f"iter {i} d: {d_loss.item():.5f}; g: {g_loss.item():.5f}; r1: {r1:.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iter", type=int, default=9)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--z_dim", type=int, default=6)
    parser.add_argument("--r1", type=float, default=1.0)
    parser.add_argument("--d_reg_every", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.002)
    parser.add_argument("--log_every", type=int, default=2)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    train(args)
