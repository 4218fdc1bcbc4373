import math
import torch
from torch import autograd, nn
from torch.nn import functional as F


class Generator(nn.Module):
    def __init__(self, style=6):
        super().__init__()
        self.mapping = nn.Sequential(nn.Linear(style, 16), nn.LeakyReLU(0.2), nn.Linear(16, style))
        self.const = nn.Parameter(torch.randn(1, 8))
        self.mod, self.out = nn.Linear(style, 8), nn.Linear(8, 16)

    def forward(self, z):
        w = self.mapping(z)
        return torch.tanh(self.out(F.leaky_relu(self.const * (1 + self.mod(w)), 0.2))), w


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x)


def requires_grad(model, flag=True):
    for p in model.parameters():
        p.requires_grad = flag


def d_logistic_loss(real_pred, fake_pred):
    return F.softplus(-real_pred).mean() + F.softplus(fake_pred).mean()


def d_r1_loss(real_pred, real_img):
    grad_real, = autograd.grad(outputs=real_pred.sum(), inputs=real_img, create_graph=True)
    return grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()


def g_path_regularize(fake_img, latents, mean_path_length, decay=0.1):
    noise = torch.randn_like(fake_img) / math.sqrt(fake_img.shape[1])
    grad, = autograd.grad(outputs=(fake_img * noise).sum(), inputs=latents, create_graph=True)
    path_lengths = torch.sqrt(grad.pow(2).sum(1) + 1e-8)
    path_mean = mean_path_length + decay * (path_lengths.detach().mean() - mean_path_length)
    path_penalty = (path_lengths - path_mean).pow(2).mean()
    return path_penalty, path_mean, path_lengths


def train(iterations=8, d_reg_every=2, g_reg_every=2, r1=1.0, path_regularize=2.0):
    generator, discriminator = Generator(), Discriminator()
    g_optim = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.0, 0.99))
    d_optim = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.0, 0.99))
    mean_path_length = 0
    basis = torch.randn(3, 16)
    for i in range(iterations):
        real = torch.tanh(torch.randn(10, 3) @ basis)
        requires_grad(generator, False)
        requires_grad(discriminator, True)
        fake, _ = generator(torch.randn(10, 6))
        d_loss = d_logistic_loss(discriminator(real), discriminator(fake))
        discriminator.zero_grad()
        d_loss.backward()
        d_optim.step()
        if i % d_reg_every == 0:
            real.requires_grad = True
            r1_loss = d_r1_loss(discriminator(real), real)
            discriminator.zero_grad()
            (r1 / 2 * r1_loss * d_reg_every).backward()
            d_optim.step()

        requires_grad(generator, True)
        requires_grad(discriminator, False)
        fake, _ = generator(torch.randn(10, 6))
        g_loss = F.softplus(-discriminator(fake)).mean()
        generator.zero_grad()
        g_loss.backward()
        g_optim.step()
        if i % g_reg_every == 0:
            fake, latents = generator(torch.randn(5, 6))
            path_loss, mean_path_length, path_lengths = g_path_regularize(fake, latents, mean_path_length)
            generator.zero_grad()
            (path_regularize * g_reg_every * path_loss).backward()
            g_optim.step()
        print(f"d: {d_loss.item():.5f}; g: {g_loss.item():.5f}; r1: {r1_loss.item():.5f}; path: {path_loss.item():.5f}; mean path: {float(mean_path_length):.5f}")


if __name__ == "__main__":
    torch.manual_seed(2)
    train()
