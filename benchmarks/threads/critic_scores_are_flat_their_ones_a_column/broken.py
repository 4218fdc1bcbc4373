import argparse
import os
import numpy as np

import torch
import torch.nn as nn
import torch.autograd as autograd

parser = argparse.ArgumentParser()
parser.add_argument("--n_epochs", type=int, default=2)
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--lr", type=float, default=0.002)
parser.add_argument("--b1", type=float, default=0.5)
parser.add_argument("--b2", type=float, default=0.9)
parser.add_argument("--latent_dim", type=int, default=6)
parser.add_argument("--window", type=int, default=24, help="length of a power curve")
parser.add_argument("--n_critic", type=int, default=3)
parser.add_argument("--lambda_gp", type=float, default=10.0)
opt = parser.parse_args()

torch.manual_seed(0)
np.random.seed(0)


def load_curves(n=160):
    """Daily load curves with a morning and an evening peak."""
    t = np.linspace(0, 1, opt.window)
    curves = []
    for _ in range(n):
        a, b = 0.3 + 0.05 * np.random.randn(), 0.8 + 0.04 * np.random.randn()
        curves.append(np.exp(-((t - a) / 0.08) ** 2) + 1.4 * np.exp(-((t - b) / 0.07) ** 2) + 0.03 * np.random.randn(opt.window))
    return torch.tensor(np.array(curves), dtype=torch.float32).unsqueeze(1)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.fc = nn.Linear(opt.latent_dim, 8 * opt.window // 4)
        self.net = nn.Sequential(
            nn.Upsample(scale_factor=2), nn.Conv1d(8, 8, 5, padding=2), nn.LeakyReLU(0.2),
            nn.Upsample(scale_factor=2), nn.Conv1d(8, 1, 5, padding=2),
        )

    def forward(self, z):
        return self.net(self.fc(z).view(z.size(0), 8, -1))


class Critic(nn.Module):
    def __init__(self):
        super(Critic, self).__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 8, 5, stride=2, padding=2), nn.LeakyReLU(0.2),
            nn.Conv1d(8, 16, 5, stride=2, padding=2), nn.LeakyReLU(0.2),
        )
        self.score = nn.Linear(16 * opt.window // 4, 1)

    def forward(self, x):
        return self.score(self.features(x).flatten(1)).view(-1)


def compute_gradient_penalty(D, real_samples, fake_samples):
    """Calculates the gradient penalty loss for WGAN GP"""
    # Random weight term for interpolation between real and fake samples
    alpha = torch.rand(real_samples.size(0), 1, 1)
    interpolates = (alpha * real_samples + (1 - alpha) * fake_samples).requires_grad_(True)
    d_interpolates = D(interpolates)
    fake = torch.ones(real_samples.size(0), 1)
    # Get gradient w.r.t. interpolates
    gradients = autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=fake,
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


generator = Generator()
critic = Critic()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
optimizer_D = torch.optim.Adam(critic.parameters(), lr=opt.lr, betas=(opt.b1, opt.b2))
dataloader = torch.utils.data.DataLoader(load_curves(), batch_size=opt.batch_size, shuffle=True, drop_last=True)

# ----------
#  Training
# ----------
for epoch in range(opt.n_epochs):
    for i, curves in enumerate(dataloader):
        optimizer_D.zero_grad()
        z = torch.randn(curves.size(0), opt.latent_dim)
        fake_curves = generator(z).detach()
        gradient_penalty = compute_gradient_penalty(critic, curves, fake_curves)
        d_loss = -critic(curves).mean() + critic(fake_curves).mean() + opt.lambda_gp * gradient_penalty
        d_loss.backward()
        optimizer_D.step()

        # Train the generator every n_critic steps
        if i % opt.n_critic == 0:
            optimizer_G.zero_grad()
            g_loss = -critic(generator(torch.randn(curves.size(0), opt.latent_dim))).mean()
            g_loss.backward()
            optimizer_G.step()
            print("[Epoch %d/%d] [Batch %d] [D loss: %.6f] [G loss: %.6f] [GP: %.6f]" % (
                epoch, opt.n_epochs, i, d_loss.item(), g_loss.item(), gradient_penalty.item()))
